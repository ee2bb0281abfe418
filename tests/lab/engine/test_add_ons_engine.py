"""Add-ons on the real engine: upgrades that need a word, definitions that stay, controllers that must not go first."""

import os
from pathlib import Path
from typing import Any

import pytest

from lab.cluster.crds import Definitions, chosen_releases
from lab.cluster.kinds import KINDS
from lab.end_states import differences, objects
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.upgrades import upgrade_problems
from pulumi_lws.facts.versions import PINS
from tests.lab.engine.played_controllers import CONTROLLED, FINALIZER, one_round

pytestmark = pytest.mark.lab

UP = ("up", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")
MERGE = {"Content-Type": "application/merge-patch+json"}
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def only_add_ons(project: Any, **add_ons: Any) -> None:
    """Declare a platform of nothing but add-ons."""
    platform = project.settings()
    common = {"charts": platform["addOns"]["charts"]}
    project.declare({"cluster": platform["cluster"], "addOns": common | add_ons})


def test_what_is_held_back_stays_once_its_controller_is_gone(bare_lab: Any, whole_stack: Any) -> None:
    """So destroying the whole stack would hang, if controllers went first."""
    only_add_ons(whole_stack, keepCrds=False, lws={})
    whole_stack.succeeds(*UP)
    [(kind, facts)] = [(kind, facts) for kind, facts in CONTROLLED if kind.kind == "LeaderWorkerSet"]
    collection = f"/apis/{kind.group}/{kind.version}/namespaces/default/{kind.plural}"
    manifest = {
        "apiVersion": f"{kind.group}/{kind.version}",
        "kind": kind.kind,
        "metadata": {"name": "one"},
        "spec": {},
    }
    with bare_lab.api() as api:
        api.post(collection, json=manifest).raise_for_status()
        assert one_round(api, kind, facts) == {"LeaderWorkerSet/one"}
        api.delete(f"/apis/apps/v1/namespaces/{facts.namespace}/deployments/lws-controller-manager").raise_for_status()
        api.delete(f"{collection}/one").raise_for_status()
        one_round(api, kind, facts)
        [left] = bare_lab.objects(collection)
        assert left["metadata"]["finalizers"] == [FINALIZER]
        api.patch(f"{collection}/one", json={"metadata": {"finalizers": None}}, headers=MERGE).raise_for_status()


def test_an_upgrade_that_breaks_what_runs_needs_a_word(whole_stack: Any) -> None:
    # Others are on their way when it is refused.
    others: dict[str, Any] = {"certManager": {}, "keda": {}, "kubePrometheusStack": {}}
    only_add_ons(whole_stack, keepCrds=False, lws={"version": "0.7.0"}, **others)
    whole_stack.succeeds(*UP)
    only_add_ons(whole_stack, keepCrds=False, lws={"version": "0.10.0"}, **others)
    problems = upgrade_problems(ADD_ONS["lws"], "0.7.0", "0.10.0")
    assert problems
    for command in (("preview",), UP):
        said = " ".join(whole_stack.fails(*command).split())
        for problem in problems:
            assert f"{problem.path}: found {problem.found}" in said
            assert problem.fix in said
        assert "Traceback" not in said
    only_add_ons(whole_stack, keepCrds=False, lws={"version": "0.10.0", "confirmUpgradeTo": "0.10.0"}, **others)
    whole_stack.succeeds("preview")
    whole_stack.succeeds(*UP)
    only_add_ons(whole_stack, keepCrds=False, lws={"version": "0.10.0"}, **others)
    whole_stack.succeeds("preview")


def test_definitions_stay_with_their_objects_unless_they_are_to_go(bare_lab: Any, whole_stack: Any) -> None:
    def definitions() -> set[str]:
        names = {one["metadata"]["name"] for one in bare_lab.objects(CRDS)}
        return names & set(ADD_ONS["lws"].crds)

    brought = {kind.name for kind in KINDS} & set(ADD_ONS["lws"].crds)
    only_add_ons(whole_stack, lws={})
    whole_stack.succeeds(*UP)
    whole_stack.succeeds(*DESTROY)
    assert definitions() == brought
    only_add_ons(whole_stack, lws={}, keepCrds=False)
    whole_stack.succeeds(*UP)
    whole_stack.succeeds(*DESTROY)
    assert definitions() == set()


def test_it_comes_up_with_the_definitions_of_upstream(bare_lab: Any, whole_stack_with: Any) -> None:
    folder = os.environ.get("LWS_LAB_CRDS")
    if not folder:
        pytest.skip("LWS_LAB_CRDS names no folder with upstream CRDs")
    releases = chosen_releases(Path(folder), {name: pin.version for name, pin in PINS.items()})
    kind = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    with whole_stack_with(Definitions(tuple(releases))) as one, bare_lab.api() as api:
        one.succeeds(*UP)
        one.succeeds("preview", "--expect-no-changes")
        stored = objects(api, [kind])
        one.succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes")
        assert differences(stored, objects(api, [kind])) == []
        one.succeeds(*DESTROY)
    sources = {key: one["metadata"]["annotations"]["pulumi-lws/crd-source"] for key, one in stored.items()}
    assert sources["CustomResourceDefinition leaderworkersets.leaderworkerset.x-k8s.io"] == "lws-0.10.0"
