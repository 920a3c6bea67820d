"""The pictures of docs/guide, taken in a real Chromium: `python benchmarks/screenshots.py STORE [FOLDER]`.

STORE holds imported logs (`steptime import`) and a few runs of this tool's own (`steptime run mnist_cnn --backend
pytorch,tensorflow --phase training,inference --batch 64 --repeats 2`): the pictures show what was measured, nothing made up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

STEPTIME = Path(sys.executable).with_name("steptime")
CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
WIDTH, HEIGHT = 1280, 760
MOST_BYTES = 150_000
CNNS = "inception3,inception4,resnet50,resnet152,vgg16"
GPUS = "A100-PCIE-40GB,RTX A6000,GeForce RTX 3090,Tesla V100 32GB"
VIEWS = {
    "explore": (f"group=precision&device=A100-PCIE-40GB&replicas=1&model={CNNS}", "light"),
    "scaling": ("view=scaling&device=A100-PCIE-40GB&precision=fp32&model=resnet50,vgg16,inception3", "light"),
    "coverage": (
        f"view=coverage&group=device&phase=training&framework=tensorflow,pytorch&model=alexnet,googlenet,{CNNS},vgg19",
        "light",
    ),
    "dark": (
        f"group=device&precision=fp16&replicas=1&origin=Lambda tables&baseline=Tesla V100 32GB&device={GPUS}&model={CNNS}",
        "dark",
    ),
}


def main(store: str, folder: str = "docs/guide") -> None:
    from playwright.sync_api import sync_playwright

    command = [STEPTIME, "guide", "--port", "0", "--no-open", "--json", "--store", store]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running, sync_playwright() as playwright:
        try:
            assert running.stdout
            base = json.loads(running.stdout.readline())["url"]
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for name, (query, scheme) in {**VIEWS, **own_runs(store)}.items():
                take(browser, f"{base}?{query}", scheme, Path(folder) / f"{name}.png")
            browser.close()
        finally:
            running.terminate()


def own_runs(store: str) -> dict[str, tuple[str, str]]:
    """The newest undisturbed run of each framework: one of them, and all of them compared."""
    told = subprocess.run([STEPTIME, "list", "--json", "--store", store], capture_output=True, text=True, check=True).stdout
    rows = [
        row for row in map(json.loads, told.splitlines()) if row["origin"] == "steptime" and row["verdict"] in ("clean", "noisy")
    ]
    best: dict[str, Any] = {}
    for row in rows:
        if row["phase"] == "training":
            best.setdefault(row["framework"], row)
    training = next(row for row in rows if row["phase"] == "training")
    return {
        "run": (f"view=run&run={training['id']}", "light"),
        "compare": (f"view=compare&run={','.join(row['id'] for row in best.values())}", "light"),
    }


def take(browser: Any, address: str, scheme: str, path: Path) -> None:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.screenshot(path=path)
    page.close()
    size = path.stat().st_size
    print(f"{path}: {size / 1e3:.0f} kB" + (" (too large)" if size > MOST_BYTES else ""))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
