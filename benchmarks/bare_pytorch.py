"""Prints, one per line, block by block: mean step under steptime / mean step of a loop written by hand.

Runs in PyTorch's own environment. Both train the same network on the same batch; blocks alternate, so that whatever
else the machine does falls on both alike.
"""

import time
from collections.abc import Callable

import torch

from steptime.backends.base import find
from steptime.models import zoo
from steptime.models.weights import Array, batch_of, initial_weights
from steptime.schema import Budget, Case
from steptime.worker.loop import measure

BATCH, STEPS, PAIRS = 50, 12, 100
AXES = {1: (0,), 2: (1, 0), 4: (3, 2, 0, 1)}  # of our arrays, in PyTorch's order


class RowsOfPixels(torch.nn.Module):
    """What nn.Flatten is for a channels-last tensor when nothing is copied; nn.Flatten itself would copy it at every step."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.permute(0, 2, 3, 1).flatten(1)


def by_hand(weights: dict[str, Array], inputs: Array, labels: Array) -> Callable[[], None]:
    """As a person would write Deep MNIST in plain PyTorch, with the settings that steptime chooses, from the same weights."""
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(1, 32, 5, padding=2),
        torch.nn.ReLU(inplace=True),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 5, padding=2),
        torch.nn.ReLU(inplace=True),
        torch.nn.MaxPool2d(2),
        RowsOfPixels(),
        torch.nn.Linear(3136, 1024),
        torch.nn.ReLU(inplace=True),
        torch.nn.Dropout(0.5),
        torch.nn.Linear(1024, 10),
    ).to(memory_format=torch.channels_last)
    with torch.no_grad():
        for parameter, value in zip(layers.parameters(), weights.values()):
            parameter.copy_(torch.from_numpy(value.transpose(AXES[value.ndim])))
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
    weights = initial_weights(graph, 1)
    program = backend.build(graph, case, weights, inputs, labels)
    step = by_hand(weights, inputs, labels)
    budget = Budget(max_steps=STEPS, min_steps=10**9)

    def ours() -> None:  # what steptime does between its blocks counts against it
        assert len(measure(program, budget, lambda seconds: None).seconds) == STEPS

    def bare() -> None:
        for _ in range(STEPS):
            step()

    for pair in range(PAIRS + 3):
        order = (ours, bare) if pair % 2 else (bare, ours)
        seconds = {way: seconds_of(way) for way in order}
        if pair >= 3:
            print(seconds[ours] / seconds[bare], flush=True)


def seconds_of(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
