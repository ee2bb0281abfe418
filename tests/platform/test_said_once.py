"""What a stack file is told, it is told once, with the whole path."""

from typing import Any

import pulumi
import pytest

from pulumi_lws.component import DeclarationError
from pulumi_lws.platform.component import Platform
from pulumi_lws.testing.monitor import record

ENTRY = {"usernameVariable": "CHARTS_USER", "passwordVariable": "CHARTS_TOKEN"}
ON_LAB = {"kind": "existing", "name": "lab", "context": "pulumi-lws-lab"}


def make(add_ons: dict[str, Any]) -> None:
    def program() -> None:
        Platform("env", {"cluster": ON_LAB, "addOns": add_ons})

    record(program)


@pytest.mark.usefixtures("kubeconfig")
def test_a_part_does_not_repeat_the_warnings_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", said.append)
    for variable in ENTRY.values():
        monkeypatch.setenv(variable, "set")
    make({"credentials": ENTRY, "keda": {}})
    assert [text.partition(": found")[0] for text in said] == ["Platform env: addOns.credentials"]


@pytest.mark.usefixtures("kubeconfig")
def test_a_missing_variable_is_told_with_the_whole_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARTS_USER", "set")
    monkeypatch.delenv("CHARTS_TOKEN", raising=False)
    with pytest.raises(DeclarationError) as caught:
        make({"credentials": ENTRY, "charts": "oci://registry.example.com/charts", "keda": {}})
    assert [problem.path for problem in caught.value.problems] == ["addOns.credentials.passwordVariable"]
