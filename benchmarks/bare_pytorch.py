"""Deep MNIST in plain PyTorch, written by hand, against steptime's. Runs in PyTorch's own environment."""

from collections.abc import Callable

import torch
from pairs import against_hand

from steptime.core.models.weights import Array

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


if __name__ == "__main__":
    against_hand("pytorch", "mnist_cnn", "training", by_hand)
