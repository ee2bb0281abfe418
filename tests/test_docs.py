"""What the documents show is what happens."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pulumi_lws.planning.problems import describe
from pulumi_lws.platform.checks import read
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.testing.monitor import record

PROJECT = Path(__file__).resolve().parent.parent
DOCUMENTS = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[Any]:
    found = [
        pytest.param(text, id=f"{document.name}:{number}")
        for document in DOCUMENTS
        for number, text in enumerate(
            re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        )
    ]
    assert found
    return found


# The SDKs of AWS deprecate resources of their own when they are loaded.
@pytest.mark.filterwarnings("ignore:aws.ec2/encryptioncontrol:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:NodeGroup uses AWS EC2 LaunchConfiguration:DeprecationWarning")
@pytest.mark.parametrize("program", blocks("python"))
def test_a_python_example_runs(program: str) -> None:
    def run() -> None:
        exec(compile(program, "example", "exec"), {"__name__": "__main__"})  # noqa: S102 - our own documents

    assert record(run)


@pytest.mark.parametrize("text", blocks("yaml"))
def test_a_stack_file_of_an_example_has_no_problem(text: str) -> None:
    assert read(yaml.safe_load(text)["config"]["pulumi-lws:platform"])[1] == []


def test_the_mistakes_in_the_readme_are_answered_as_it_says(local_platform: dict[str, Any]) -> None:
    local_platform["pools"]["p5"]["islands"] = -1
    local_platform["deployments"]["glm-5"] |= {"replicas": "two"}
    local_platform["deployments"]["glm-5"]["parallelism"] = {"tensr": 8}
    said = describe(read(local_platform)[1], "Platform platform")
    shown = "\n".join(f"    {line}" for line in said.splitlines())
    assert shown in (PROJECT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8"))
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_to_headings_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", document.read_text(encoding="utf-8"))
    pages = {target: (document.parent / target if target else document).read_text("utf-8") for target, _ in links}
    headings = {target: set(map(anchor, re.findall(r"^#+ (.+)$", page, re.M))) for target, page in pages.items()}
    assert [link for link in links if link[1] not in headings[link[0]]] == []


def anchor(heading: str) -> str:
    """Return what GitHub makes of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_the_readme_lists_every_policy_of_the_first_page() -> None:
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert [rule.name for rule in RULES if rule.house and f"`{rule.name}`" not in text] == []
