"""Taking over what exists, through the language host."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.lab

COLLECTION = "/api/v1/namespaces/default/configmaps"


def test_an_imported_object_stands_in_the_state_and_its_program_changes_nothing(
    lab: Any, project: Callable[[str], Any]
) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "grown"}, "data": {"a": 'it\'s "b"\n'}}
    with lab.api() as api:
        api.post(COLLECTION, json=manifest).raise_for_status()
    one = project("")
    program = one.folder / "imported.py"
    one.succeeds(
        *("import", "kubernetes:core/v1:ConfigMap", "grown", "default/grown"),
        *("--yes", "--skip-preview", "--protect=false", "--out", str(program)),
    )
    assert one.state() == {"grown": "kubernetes:core/v1:ConfigMap"}
    (one.folder / "__main__.py").write_text(program.read_text())
    one.succeeds("preview", "--expect-no-changes")
