"""``lws report`` on previews of the local stack, in both forms that the engine writes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.folders import PROJECT

pytestmark = pytest.mark.lab

STREAMING = {"PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true"}
PREVIEW = ("preview", "--json", "--policy-pack", str(PROJECT / "policies"))


def report(printed: str, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pulumi_lws.cli", "report", *arguments]
    ended = subprocess.run(command, input=printed, capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    return ended.returncode, ended.stdout


def test_a_stack_from_its_first_preview_to_a_change_that_takes_it_down(
    lab: Any, local_stack: Any, tmp_path: Path
) -> None:
    code, first = report(local_stack.pulumi(*PREVIEW, **STREAMING).stdout)
    assert code == 0
    assert "### 🟢 `glm-5` is added: 1 group, 16 GPUs" in first
    assert "**+16 GPUs · +2 nodes · +$110.08/h**" in first
    assert "All policies hold (`pulumi-lws`)." in first

    local_stack.succeeds("up", "--yes", "--skip-preview")
    base = tmp_path / "base.json"
    base.write_text(local_stack.succeeds("preview", "--json", "--show-sames"))
    assert "### 🟢 Nothing changes" in report(base.read_text())[1]

    platform = local_stack.settings()
    platform["deployments"]["glm-5"]["image"] = "example.com/vllm:v0.27.0"
    local_stack.declare(platform)
    events = local_stack.pulumi(*PREVIEW, **STREAMING).stdout
    digest = local_stack.succeeds("preview", "--json", "--show-sames")
    for form in (events, digest):
        code, said = report(form, "--format", "json", "--base", str(base))
        found = json.loads(said)
        assert (code, found["findings"][0]["text"]) == (0, "glm-5 restarts and is down for up to 60 min")
        assert found["models"][0] | {"changed": []} == {
            "name": "glm-5",
            "kind": "LeaderWorkerSet",
            "what": "restarts",
            "replicas": {"before": 1, "after": 1},
            "gpus": {"before": 16, "after": 16},
            "missing": 1,
            "minutes": 60,
            "changed": [],
        }
    certificate = lab.layout.kubeconfig.read_text().partition("client-key-data: ")[2].split()[0]
    assert certificate not in report(events)[1]


def test_a_preview_that_fails_is_a_report_that_says_why(local_stack: Any) -> None:
    platform = local_stack.settings()
    platform["deployments"]["glm-5"]["replicas"] = "two"
    local_stack.declare(platform)
    code, said = report(local_stack.pulumi(*PREVIEW, **STREAMING).stdout)
    assert code == 1
    assert "### 🔴 The preview failed, so nothing is applied" in said
    assert "deployments.glm-5.replicas: found 'two'; allowed: a whole number. Change replicas." in said
