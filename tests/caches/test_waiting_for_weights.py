"""Pods start once the weights on their node are whole, or fail in time."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.pods import Position, pod_spec
from pulumi_lws.serving.settings import MultiNodeVllmArgs
from pulumi_lws.serving.sources.loading import wait_for_weights_command

FINISHED = ".pulumi-lws-finished"


def init_containers(position: Position, **source: Any) -> list[dict[str, Any]]:
    args = MultiNodeVllmArgs.model_validate(
        {
            "name": "glm-5",
            "namespace": "models",
            "model": "zai-org/GLM-5-FP8",
            "source": {"kind": "node", "path": "/mnt/k8s-disks/0/models/glm-5", **source},
            "parallelism": {"tensor": 8, "pipeline": 2},
            "pool": "p5",
            "pools": {"p5": {"instanceType": "p5.48xlarge", "islands": 1, "nodesPerIsland": 2}},
            "image": "registry.example.com/vllm:0.26.0",
        }
    )
    (role,) = roles_of(args)[0]
    found: list[dict[str, Any]] = pod_spec(role, position).get("initContainers", [])
    return found


def test_leader_and_workers_wait_as_long_as_the_start_budget_lasts() -> None:
    (leader,) = init_containers("leader", finishFile=FINISHED)
    assert leader == {
        "name": "wait-for-weights",
        "image": "registry.example.com/vllm:0.26.0",
        "command": wait_for_weights_command(f"/models/{FINISHED}", 3600),
        "resources": {kind: {"cpu": "1", "memory": "1Gi"} for kind in ("requests", "limits")},
        "volumeMounts": [{"name": "models", "mountPath": "/models", "readOnly": True}],
    }
    workers = init_containers("worker", finishFile=FINISHED)
    assert [container["name"] for container in workers] == ["wait-for-weights", "wait-for-leader"]


def test_nobody_waits_for_a_folder_that_is_whole_or_not_there() -> None:
    assert init_containers("leader") == []


@pytest.mark.parametrize(("there", "code"), [(True, 0), (False, 1)])
def test_the_wait_ends_with_the_file_or_in_time(tmp_path: Path, there: bool, code: int) -> None:
    file = tmp_path / FINISHED
    if there:
        file.touch()
    done = subprocess.run(wait_for_weights_command(str(file), 0), check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "" if there else f"no {file} in 0 s\n")
