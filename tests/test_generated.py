"""Files that a command writes are as the command would write them."""

import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from lab import docs

PROJECT = Path(__file__).resolve().parent.parent
OURSELVES = "pulumi-lws"
WRITE_DOCS_AGAIN = "run `make docs`"
PAGES = docs.pages()
WRITE_AGAIN = "run `make lock`"


def pins() -> dict[str, str]:
    lines = (PROJECT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line]
    return {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in requirements}


def test_every_dependency_is_pinned_within_its_bounds() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = [Requirement(line) for group in groups for line in group]
    pinned = pins()
    wrong = [
        str(requirement)
        for requirement in declared
        if requirement.name != OURSELVES
        and not requirement.specifier.contains(pinned.get(canonicalize_name(requirement.name), "0"))
    ]
    assert wrong == [], WRITE_AGAIN


def test_what_is_installed_is_what_is_pinned() -> None:
    pinned = pins()
    # The tools that make an environment come with Python itself.
    ignored = {OURSELVES, "pip", "setuptools", "wheel"}
    # Some packages write their version with a v, which pip drops.
    installed = {canonicalize_name(d.name): str(Version(d.version)) for d in metadata.distributions()}
    different = {
        name: (version, pinned.get(name))
        for name, version in installed.items()
        if name not in ignored and version != pinned.get(name)
    }
    assert different == {}, WRITE_AGAIN


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_generated_page_is_as_the_command_writes_it(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == PAGES[page], WRITE_DOCS_AGAIN


def test_a_rule_that_there_is_no_more_has_no_page() -> None:
    assert docs.left_over() == [], WRITE_DOCS_AGAIN
