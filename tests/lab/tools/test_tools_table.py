from importlib.metadata import version

import pytest

from lab.tools.build import linker_flags, module_file, wanted_packages
from lab.tools.table import ALWAYS, TOOLS, Tool
from pulumi_lws.facts.versions import PINS


def test_every_lab_needs_all_but_what_is_built_on_demand() -> None:
    assert [name for name in TOOLS if name not in ALWAYS] == ["karpenter", "promtool", "actionlint"]


def test_all_builds_together_stay_below_35_minutes_on_two_cores() -> None:
    assert sum(tool.minutes for tool in TOOLS.values()) < 35


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_versions_come_from_the_pin_table(tool: Tool) -> None:
    pins = {pin.source: pin.version for pin in PINS.values()}
    assert tool.recipe.version.removeprefix("v") == pins[tool.recipe.module].removeprefix("v")


def test_the_provider_is_what_the_installed_sdk_asks_for() -> None:
    assert TOOLS["kubernetes-provider"].version == version("pulumi-kubernetes")


def test_the_control_plane_replaces_its_staging_modules_by_their_releases() -> None:
    lines = module_file(TOOLS["control-plane"]).splitlines()
    released = "0." + PINS["kubernetes"].version.partition(".")[2]
    assert lines[:4] == ["module lab/control-plane", "", "go 1.26.6", ""]
    assert f"replace k8s.io/client-go => k8s.io/client-go v{released}" in lines
    assert f"replace k8s.io/kubernetes => k8s.io/kubernetes v{released}" not in lines


def test_programs_are_asked_for_and_stamped_with_their_version() -> None:
    recipes = {name: (wanted_packages(tool.recipe), linker_flags(tool)) for name, tool in TOOLS.items()}
    kubernetes, pulumi = PINS["kubernetes"].version, PINS["pulumi"].version
    assert recipes["control-plane"] == (
        [
            f"k8s.io/kubernetes/cmd/{name}@v{kubernetes}"
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
        ],
        f"-s -w -X k8s.io/component-base/version.gitVersion=v{kubernetes}",
    )
    assert recipes["pulumi"] == (
        [f"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi@v{pulumi}"],
        f"-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={pulumi}",
    )
    assert recipes["kubernetes-provider"] == (
        [f"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider@{PINS['pulumi-kubernetes'].version}"],
        f"-s -w -X main.version={version('pulumi-kubernetes')}",
    )
