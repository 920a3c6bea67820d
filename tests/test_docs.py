"""The documents are true: help texts are those of the tool, commands that are shown exist, links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest

from steptime.cli.main import verbs

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_has_a_page_with_its_very_help(inside, verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    page = (ROOT / "docs" / f"{verb}.md").read_text()
    assert inside(verb, "--help").out.strip() in page


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_shown_commands_are_commands(page):
    for line in re.findall(r"^\$ steptime (.*)$", page.read_text(), re.M):
        assert shlex.split(line.split("|")[0])[0] in {*verbs(), "--version", "--help"}, line


def test_the_readme_names_the_two_commands_and_they_are_targets():
    text, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for target in ("run", "test"):
        assert f"make {target}" in text
        assert re.search(rf"^{target}:", makefile, re.M)


def test_every_make_target_that_is_mentioned_exists():
    makefile = (ROOT / "Makefile").read_text()
    for page in PAGES:
        for target in re.findall(r"`make ([a-z-]+)`", page.read_text()):
            assert re.search(rf"^{target}:", makefile, re.M), f"{page.name}: make {target}"


EXAMPLES = ["steptime run mlp --backend null --batch 8,16 --dry-run", "steptime models", "steptime plans"]


@pytest.mark.parametrize("example", EXAMPLES)
def test_simple_examples_run(inside, example):
    assert inside(*shlex.split(example)[1:]).code == 0
