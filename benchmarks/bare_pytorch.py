"""Prints, one per line, block by block: mean step under steptime / mean step of a loop written by hand.

Runs in PyTorch's own environment. Both train the same network on the same batch; blocks alternate, so that whatever
else the machine does falls on both alike.
"""

import time

import numpy as np
import torch

from steptime.backends.base import find
from steptime.models import zoo
from steptime.models.weights import batch_of, initial_weights
from steptime.schema import Budget, Case
from steptime.worker.loop import measure

BATCH, STEPS, PAIRS = 50, 12, 60


def by_hand(inputs: "np.ndarray", labels: "np.ndarray"):  # type: ignore[type-arg,no-untyped-def]
    """As a person would write Deep MNIST in plain PyTorch, with the settings that steptime chooses."""
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(1, 32, 5, padding=2),
        torch.nn.ReLU(inplace=True),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 5, padding=2),
        torch.nn.ReLU(inplace=True),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(3136, 1024),
        torch.nn.ReLU(inplace=True),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(1024, 10),
    ).to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(layers.parameters(), 0.01, fused=True)
    x = torch.from_numpy(inputs).permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
    y = torch.from_numpy(labels)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(layers(x), y)
        loss.backward()
        optimizer.step()

    return step


def main() -> None:
    case = Case("mnist_cnn", "pytorch", BATCH, threads=1)
    backend = find("pytorch")
    backend.start(case)
    graph = zoo.build("mnist_cnn", {})
    inputs, labels = batch_of(graph, BATCH, 1)
    program = backend.build(graph, case, initial_weights(graph, 1), inputs, labels)
    step = by_hand(inputs, labels)
    budget = Budget(max_steps=STEPS, min_steps=10**9)
    for pair in range(PAIRS + 3):
        began = time.perf_counter()
        run = measure(program, budget, lambda seconds: None)
        ours = time.perf_counter() - began  # what steptime does between blocks counts against it
        began = time.perf_counter()
        for _ in range(STEPS):
            step()
        bare = time.perf_counter() - began
        if pair >= 3:
            print(ours / bare, flush=True)
        assert len(run.seconds) == STEPS


if __name__ == "__main__":
    main()
