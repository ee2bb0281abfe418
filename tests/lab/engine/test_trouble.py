"""Updates that go wrong: each ends in a clear error, loses no state, and the next one recovers."""

import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.lab

# The second object is waited for until it has a field that it gets only in the repaired program.
PROGRAM = """
import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("cluster", enable_server_side_apply=True)
opts = pulumi.ResourceOptions(provider=provider)
first = kubernetes.core.v1.ConfigMap("first", metadata={"name": "first"}, data={"a": "b"}, opts=opts)
kubernetes.core.v1.ConfigMap(
    "second",
    metadata={"name": "second", "annotations": {"pulumi.com/waitFor": "jsonpath={.data.done}"}},
    data=DATA,
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[first]),
)
"""
WAITS = PROGRAM.replace("DATA", '{"a": "b"}')
REPAIRED = PROGRAM.replace("DATA", '{"a": "b", "done": "yes"}')
BOTH = {"first": "kubernetes:core/v1:ConfigMap", "second": "kubernetes:core/v1:ConfigMap"}


def config_maps(lab: Any) -> set[str]:
    items = lab.objects("/api/v1/namespaces/default/configmaps")
    return {item["metadata"]["name"] for item in items} - {"kube-root-ca.crt"}


def repair(project: Any) -> None:
    (project.folder / "__main__.py").write_text(REPAIRED)


@pytest.mark.parametrize(
    "signals",
    [[signal.SIGINT], [signal.SIGINT, signal.SIGINT], [signal.SIGTERM], [signal.SIGKILL]],
    ids=["interrupted", "interrupted twice", "terminated", "killed"],
)
def test_an_update_cut_off_loses_no_state_and_the_next_one_recovers(
    lab: Any,
    project: Callable[[str], Any],
    wait_until: Callable[[Callable[[], bool]], None],
    interrupt: Any,
    signals: list[signal.Signals],
) -> None:
    one = project(WAITS)
    process = one.starts("up", "--yes", "--skip-preview")
    wait_until(lambda: config_maps(lab) == {"first", "second"})
    printed = interrupt(process, signals)
    assert process.returncode != 0
    assert "Traceback" not in printed
    if signals == [signal.SIGKILL]:
        # Nobody was left to release the lock of the stack; the engine says so, and how to go on.
        assert "pulumi cancel" in one.fails("up", "--yes", "--skip-preview")
        one.succeeds("cancel", "--yes")
    assert "first" in one.state()

    repair(one)
    one.succeeds("up", "--yes", "--skip-preview")
    assert one.state() == BOTH
    one.succeeds("preview", "--expect-no-changes")
    one.succeeds("destroy", "--yes", "--skip-preview")
    assert config_maps(lab) == set()


def test_an_unreachable_api_server_is_said_and_the_next_update_recovers(
    lab: Any, local_stack: Any, tmp_path: Path
) -> None:
    gone = tmp_path / "kubeconfig"
    gone.write_text(_with_port(lab.layout.kubeconfig.read_text(), 1))
    printed = local_stack.fails("up", "--yes", "--skip-preview", KUBECONFIG=str(gone))
    assert "configured Kubernetes cluster is unreachable" in printed
    assert "connection refused" in printed
    local_stack.succeeds("up", "--yes", "--skip-preview")
    local_stack.succeeds("preview", "--expect-no-changes")
    before = local_stack.state()

    platform = local_stack.settings()
    platform["deployments"]["glm-5"]["startBudgetMinutes"] = 90
    local_stack.declare(platform)
    printed = local_stack.fails("up", "--yes", "--skip-preview", KUBECONFIG=str(gone))
    assert "connection refused" in printed
    assert local_stack.state() == before


def test_a_wrong_kubeconfig_is_one_problem(local_stack: Any, tmp_path: Path) -> None:
    wrong = tmp_path / "kubeconfig"
    wrong.write_text("contexts: [{name: production}]\n")
    printed = local_stack.fails("preview", KUBECONFIG=str(wrong))
    assert f"cluster.context: found 'pulumi-lws-lab'; allowed: production (of {wrong})." in " ".join(printed.split())
    printed = local_stack.fails("preview", KUBECONFIG=str(tmp_path / "missing"))
    assert "cluster.kubeconfig: found no context in" in printed


def test_credentials_that_are_refused_are_said(lab: Any, local_stack: Any, tmp_path: Path) -> None:
    """A cluster that answers, and does not know us."""
    document = yaml.safe_load(lab.layout.kubeconfig.read_text())
    document["users"][0]["user"] = {"token": "nobody"}
    stranger = tmp_path / "kubeconfig"
    stranger.write_text(yaml.safe_dump(document))
    printed = local_stack.fails("up", "--yes", "--skip-preview", KUBECONFIG=str(stranger))
    assert "Unauthorized" in printed or "provide credentials" in printed
    assert "nobody" not in printed


def _with_port(kubeconfig: str, port: int) -> str:
    return re.sub(r"https://127\.0\.0\.1:\d+", f"https://127.0.0.1:{port}", kubeconfig)
