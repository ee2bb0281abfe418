"""Which stacks a change touches."""

from pathlib import Path

import pytest

from pulumi_lws.ci.stacks import Project, UnreadableProjectError, counted, read_project, touched

ROOT = Path("/repository")
PROJECT = Project("serving", ROOT / "stacks", {"dev": "Pulumi.dev.yaml", "prod": "Pulumi.prod.yaml"})
BOTH = ("dev", "prod")


@pytest.mark.parametrize(
    ("changed", "want"),
    {
        "a stack's file touches its stack": (["stacks/Pulumi.prod.yaml"], {"prod": "stacks/Pulumi.prod.yaml"}),
        "any other file touches all": (["lib/x.py"], dict.fromkeys(BOTH, "lib/x.py")),
        "the description of the project, too": (["Pulumi.yaml"], dict.fromkeys(BOTH, "Pulumi.yaml")),
        "a stack's file elsewhere is any file": (["Pulumi.dev.yaml"], dict.fromkeys(BOTH, "Pulumi.dev.yaml")),
        "a stack whose file is gone is no stack": (["stacks/Pulumi.test.yaml"], {}),
        "pages touch none": (["README.md", "docs/ci.md"], {}),
        "what is ignored touches none": (["services/web/main.py"], {}),
        "nothing touches none": ([], {}),
    }.values(),
)
def test_files_touch_stacks(changed: list[str], want: dict[str, str]) -> None:
    assert touched(PROJECT, ROOT, ["services/*"], changed) == want


def test_a_stack_whose_file_is_ignored_does_not_count() -> None:
    assert counted(PROJECT, ROOT, ["*/Pulumi.dev.yaml"]) == ("prod",)
    assert touched(PROJECT, ROOT, ["*/Pulumi.dev.yaml"], ["lib/x.py"]) == {"prod": "lib/x.py"}


def test_stack_files_may_stand_beside_the_project_in_a_folder_of_a_repository(tmp_path: Path) -> None:
    folder = tmp_path / "infra"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: serving\nruntime: python\n")
    for name in ("Pulumi.prod.yaml", "Pulumi.dev.yml", "Pulumi.dev.yaml.bak"):
        (folder / name).touch()
    project = read_project(folder)
    assert project == Project("serving", folder, {"dev": "Pulumi.dev.yml", "prod": "Pulumi.prod.yaml"})
    assert touched(project, tmp_path, [], ["infra/Pulumi.prod.yaml"]) == {"prod": "infra/Pulumi.prod.yaml"}


@pytest.mark.parametrize("text", ["", "runtime: python", "a: [", "- name"])
def test_a_project_without_a_name_is_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text(text)
    with pytest.raises(UnreadableProjectError, match="it names no project"):
        read_project(tmp_path)
