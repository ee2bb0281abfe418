"""The environments dev, staging and prod through their whole lives: the real engine, without an AWS account.

The tests of one environment build on one another, in order: it is brought up once.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from lab import charts
from lab.folders import PROJECT
from lab.project import make
from tests.lab.aws.environments import Environment, Key, Raw, principals

pytestmark = pytest.mark.lab

CHART = """
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Chart.Name }}, namespace: {{ .Release.Namespace }}}
data: {values: {{ toJson .Values | quote }}}
"""
NEWER_ADDONS = {
    "coredns": "v1.14.0-eksbuild.1",
    "eks-pod-identity-agent": "v1.3.11-eksbuild.1",
    "kube-proxy": "v1.36.0-eksbuild.2",
    "vpc-cni": "v1.21.2-eksbuild.1",
}
OTHER_COMPUTE: Raw = {
    "auto": {"kind": "karpenter", "image": "al2023@v20260901"},
    "karpenter": {"kind": "auto"},
}
PLUGINS = ("nvidiaDevicePlugin", "efaDevicePlugin")
P5_VCPUS = 192


def _one_more_island(platform: Raw) -> None:
    islands = next((pool for pool in platform["pools"].values() if "islands" in pool), None)
    if islands:
        islands["islands"] += 1
    else:
        platform["pools"]["islands"] = platform["pools"]["p5"] | {"islands": 1, "nodesPerIsland": 2}
        del platform["pools"]["islands"]["nodes"]
    platform["quotas"]["p"] += 2 * P5_VCPUS


def _a_newer_kubernetes(platform: Raw) -> None:
    platform["cluster"]["version"] = "1.36"
    if platform["cluster"]["compute"]["kind"] == "karpenter":
        platform["cluster"]["addons"] = NEWER_ADDONS


def _a_newer_addon(platform: Raw) -> None:
    platform["cluster"]["addons"] = {"coredns": NEWER_ADDONS["coredns"]}


NEWER: dict[str, Callable[[Raw], None]] = {
    "dev": _a_newer_kubernetes,
    "staging": _a_newer_addon,
    "prod": _a_newer_kubernetes,
}
SERVED: dict[str, set[Key]] = {
    "dev": {
        ("Deployment", "models", "gpt-oss"),
        ("LeaderWorkerSet", "models", "glm-5"),
        ("NodeClass", "", "p5-0"),
        ("NodeClass", "", "small"),
        ("NodeClass", "", "system"),
        ("NodePool", "", "p5-0"),
        ("NodePool", "", "small"),
        ("NodePool", "", "system"),
    },
    "staging": {
        ("Deployment", "models", "gpt-oss-router"),
        ("EC2NodeClass", "", "p5"),
        ("LeaderWorkerSet", "models", "gpt-oss-decode"),
        ("LeaderWorkerSet", "models", "gpt-oss-prefill"),
        ("NodePool", "", "p5"),
    },
    "prod": {
        ("Deployment", "models", "glm-5-router"),
        ("DisaggregatedSet", "models", "glm-5"),
        ("LeaderWorkerSet", "models", "deepseek-r1"),
        ("LeaderWorkerSet", "models", "llama-405b"),
        *((kind, "", f"models-{island}") for kind in ("EC2NodeClass", "NodePool") for island in range(5)),
        *((kind, "", f"disaggregated-{island}") for kind in ("EC2NodeClass", "NodePool") for island in range(4)),
    },
}
"""Nodes and servers of each environment."""

KINDS = {kind for keys in SERVED.values() for kind, *_ in keys}


@pytest.fixture(scope="module", params=NEWER)
def environment(
    request: pytest.FixtureRequest, running_lab: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Environment]:
    """The stack file of this repository, with charts from a folder, and its principals in the account."""
    folder = tmp_path_factory.mktemp(request.param)
    bare = Environment(folder / "project", running_lab.variables(), request.param, running_lab.layout)
    one = make(bare, (PROJECT / "__main__.py").read_text(), folder / "backend")
    for name in ("karpenter", "karpenter-crd"):
        templates = folder / "charts" / name / "templates"
        templates.mkdir(parents=True)
        (templates / "values.yaml").write_text(CHART)
        (templates.parent / "Chart.yaml").write_text(yaml.safe_dump({"apiVersion": "v2", "name": name, "version": "1"}))
    # So that an environment leaves nothing behind in the lab that all of them share.
    one.change(lambda platform: platform["addOns"].update(charts=str(charts.FOLDER), keepCrds=False))
    if one.platform["cluster"]["compute"]["kind"] == "karpenter":
        one.change(lambda platform: platform["cluster"]["compute"].update(charts=str(folder / "charts")))
    (folder / "seed.yaml").write_text(yaml.safe_dump(dict.fromkeys(principals(one.platform))))
    running_lab.command("seed", str(folder / "seed.yaml"))
    one.succeeds("stack", "select", "--create", one.name)
    yield replace(one, seeded=one.account())
    if one.ids():
        one.change(lambda platform: platform["cluster"].update(protect=False))
        one.pulumi("up", "--yes", "--skip-preview")
        one.pulumi("destroy", "--yes", "--skip-preview")


@pytest.fixture(scope="module")
def up(environment: Environment) -> dict[str, int]:
    """What bringing the environment up did."""
    return environment.up()


def test_a_first_preview_takes_everything_though_the_cluster_cannot_be_reached(
    environment: Environment,
) -> None:
    assert environment.planned(reachable=False).keys() == {"create"}
    assert environment.account() == environment.seeded
    assert environment.objects() == {}


def test_up_makes_everything_and_leaves_nothing_to_change(environment: Environment, up: dict[str, int]) -> None:
    assert up.keys() == {"created"}
    objects = environment.objects()
    assert sorted("/".join(filter(None, key[1:])) for key in objects) == sorted(environment.ids("kubernetes:"))
    assert {key for key in objects if key[0] in KINDS and key[1] in ("", "models")} == SERVED[environment.name]
    assert environment.planned().keys() == {"unchanged"}


@pytest.mark.usefixtures("up")
def test_the_kubeconfig_is_exported_as_a_secret(environment: Environment) -> None:
    assert '"kubeconfig": "[secret]"' in environment.succeeds("stack", "output", "--json")
    assert "PRIVATE KEY" not in environment.succeeds("stack", "export")


@pytest.mark.usefixtures("up")
def test_one_more_island_replaces_nothing_and_moves_nothing(environment: Environment) -> None:
    before = environment.substance()
    environment.change(_one_more_island)
    assert environment.up().keys() == {"created", "updated", "unchanged"}
    after = environment.substance()
    assert len(after) == len(before) + len(["NodePool", "node class"])
    assert {key: after[key] for key in before} == before


@pytest.mark.usefixtures("up")
def test_a_newer_version_replaces_nothing_and_moves_nothing(environment: Environment) -> None:
    before = environment.substance()
    environment.change(NEWER[environment.name])
    assert environment.up().keys() == {"updated", "unchanged"}
    assert environment.substance() == before


@pytest.mark.usefixtures("up")
def test_what_would_replace_the_cluster_is_refused_with_the_reason_unless_allowed(environment: Environment) -> None:
    declared = environment.platform["cluster"]
    mode = declared["compute"]["kind"]
    other = OTHER_COMPUTE[mode]
    # Versions of add-ons belong to one mode.
    kept = {key: value for key, value in declared.items() if key not in ("version", "addons")}
    add_ons = environment.platform["addOns"]
    # Nodes of one mode bring the plugins that those of the other need.
    fitting = {key: value for key, value in add_ons.items() if key not in PLUGINS}
    if other["kind"] == "karpenter":
        fitting |= {key: {} for key in PLUGINS}
    changed = {"cluster": kept | {"name": "other", "compute": other}, "addOns": fitting}
    environment.change(lambda platform: platform.update(changed))
    shown = environment.refused()
    assert f"name: found 'other'; allowed: '{declared['name']}', as the running cluster has it" in shown
    assert f"compute.kind: found '{other['kind']}'; allowed: '{mode}', as the running cluster has it" in shown
    changed = {"cluster": declared | {"name": "other", "allowReplacement": True}, "addOns": add_ons}
    environment.change(lambda platform: platform.update(changed))
    if declared.get("protect", True):
        assert "protected" in environment.refused()
    else:
        assert "replace" in environment.planned()
    environment.change(lambda platform: platform.update(cluster=declared))


@pytest.mark.usefixtures("up")
def test_destroy_leaves_nothing(environment: Environment) -> None:
    if environment.platform["cluster"].get("protect", True):
        before = environment.account(), environment.objects()
        assert "cannot be deleted\n    because it is protected" in environment.fails("destroy", "--yes")
        assert (environment.account(), environment.objects()) == before
        environment.change(lambda platform: platform["cluster"].update(protect=False))
        # The policy ``protected`` is against what is wanted here.
        assert environment.up(judged=False).keys() == {"updated", "unchanged"}
    assert environment.destroy().keys() == {"deleted"}
    assert environment.ids() == []
    assert environment.objects() == {}
    assert environment.account() == environment.seeded
