"""Where an add-on comes from, and how values are merged."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from pydantic import ValidationError

from pulumi_lws.addons.installation import Installation, merged, namespaces_of
from pulumi_lws.addons.settings import AddOns, Credentials
from pulumi_lws.planning.validation import problems_of
from tests.addons.sites import ALL, add_ons, decided

ENTRY = {"usernameVariable": "CHARTS_USER", "passwordVariable": "CHARTS_TOKEN"}


def place(found: Installation) -> tuple[str | None, str, str | None]:
    return found.repository, found.chart, found.manifests


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({"keda": {}}, ("https://kedacore.github.io/charts", "keda", None)),
        ({"keda": {}, "charts": "oci://mine.example/charts"}, (None, "oci://mine.example/charts/keda", None)),
        ({"keda": {}, "charts": "https://mine.example"}, ("https://mine.example", "keda", None)),
        ({"keda": {}, "charts": "./charts"}, (None, "./charts/keda", None)),
        ({"keda": {"charts": "vendored"}, "charts": "oci://mine.example"}, (None, "vendored/keda", None)),
        ({"keda": {"manifests": "./keda.yaml"}}, ("https://kedacore.github.io/charts", "keda", "./keda.yaml")),
    ],
)
def test_a_chart_comes_from_upstream_or_from_where_it_is_redirected_to(
    declared: dict[str, Any], expected: tuple[str | None, str, str | None]
) -> None:
    assert place(decided("keda", add_ons(**declared))) == expected


@pytest.mark.parametrize(
    ("declared", "manifests"),
    [
        (
            {"inferencePools": {"version": "1.5.0"}},
            "https://github.com/kubernetes-sigs/gateway-api-inference-extension/releases/download/v1.5.0/manifests.yaml",
        ),
        ({"inferencePools": {}, "charts": "charts"}, "charts/inference-pools.yaml"),
        ({"inferencePools": {"manifests": "./pools.yaml"}, "charts": "charts"}, "./pools.yaml"),
    ],
)
def test_what_has_no_chart_comes_as_one_file(declared: dict[str, Any], manifests: str) -> None:
    assert decided("inference_pools", add_ons(**declared)).manifests == manifests


@pytest.mark.parametrize(
    ("own", "credentials"),
    [
        ({}, Credentials.model_validate(ENTRY)),
        ({"charts": "oci://registry.k8s.io/kueue/charts"}, None),
        ({"charts": "oci://mine.example/charts"}, Credentials.model_validate(ENTRY)),
    ],
)
def test_credentials_go_to_the_registry_that_they_were_declared_for_alone(
    own: dict[str, Any], credentials: Credentials | None
) -> None:
    declared = add_ons(charts="oci://mine.example/charts", credentials=ENTRY, kueue=own)
    assert decided("kueue", declared).credentials == credentials


def test_credentials_do_not_go_to_upstream() -> None:
    assert decided("kueue", add_ons(credentials=ENTRY, kueue={})).credentials is None


def test_version_and_namespace_are_upstreams_or_those_that_were_declared() -> None:
    usual = decided("kueue")
    assert (usual.version, usual.namespace, usual.confirmed) == ("0.19.2", "kueue-system", None)
    declared = {"version": "0.19.3", "namespace": "queues", "confirmUpgradeTo": "0.19.3"}
    own = decided("kueue", add_ons(kueue=declared))
    assert (own.version, own.namespace, own.confirmed) == ("0.19.3", "queues", "0.19.3")


def test_the_state_keeps_what_later_updates_are_compared_with() -> None:
    declared = add_ons(keda={"values": {"operator": {"replicaCount": 2}}}, charts="https://mine.example")
    assert decided("keda", declared).inputs == {
        "addOn": "keda",
        "version": "2.20.2",
        "namespace": "keda",
        "source": "https://mine.example/keda",
        "values": {"operator": {"replicaCount": 2}},
    }


def test_namespaces_of_kubernetes_are_not_made() -> None:
    assert namespaces_of(add_ons(**ALL | {"keda": {"namespace": "scaling"}})) == {
        "cert-manager",
        "envoy-gateway-system",
        "kuberay-system",
        "kueue-system",
        "lws-system",
        "monitoring",
        "scaling",
    }


@pytest.mark.parametrize(
    ("declared", "path"),
    [
        ({"charts": "oci://user:s3cr3t@mine.example/charts"}, "charts"),
        ({"charts": "oci://mine.example/"}, "charts"),
        ({"charts": ""}, "charts"),
        ({"kueue": {"version": "0.19"}}, "kueue.version"),
        ({"kueue": {"version": ">=0.19.2"}}, "kueue.version"),
        ({"kueue": {"manifests": "kueue"}}, "kueue.manifests"),
        ({"credentials": {"usernameVariable": "USER"}}, "credentials.passwordVariable"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused_without_showing_secrets(
    declared: dict[str, Any], path: str
) -> None:
    with pytest.raises(ValidationError) as raised:
        AddOns.model_validate(declared)
    (problem,) = problems_of(raised.value, AddOns)
    assert problem.path == path
    assert "s3cr3t" not in str(problem)


class TestMerging:
    """Values go over values as Helm has it."""

    leaves = some.one_of(some.integers(), some.text(max_size=3), some.booleans(), some.lists(some.integers()))
    trees = some.recursive(
        leaves, lambda inner: some.dictionaries(some.sampled_from("abc"), inner, max_size=3), max_leaves=8
    ).filter(lambda tree: isinstance(tree, dict))
    with_nulls = some.recursive(
        leaves | some.none(), lambda inner: some.dictionaries(some.sampled_from("abc"), inner, max_size=3), max_leaves=8
    ).filter(lambda tree: isinstance(tree, dict))

    @staticmethod
    def test_field_by_field() -> None:
        ours = {"a": {"b": 1, "c": [1, 2]}, "d": {"e": 1}, "f": 1, "g": {"h": 1}}
        theirs = {"a": {"c": [3]}, "d": None, "f": {"i": 2, "j": None}, "g": 5}
        assert merged(ours, theirs) == {"a": {"b": 1, "c": [3]}, "f": {"i": 2}, "g": 5}
        assert ours == {"a": {"b": 1, "c": [1, 2]}, "d": {"e": 1}, "f": 1, "g": {"h": 1}}

    @given(trees, with_nulls)
    def test_what_they_say_holds(self, ours: Any, theirs: Any) -> None:
        found = merged(ours, theirs)
        for path, value in _leaves(theirs):
            assert _at(found, path) == (MISSING if value is None else value)

    @given(trees, with_nulls)
    def test_what_they_say_nothing_about_stays(self, ours: Any, theirs: Any) -> None:
        found = merged(ours, theirs)
        for path, value in _leaves(ours):
            # What they say of a whole mapping, or below a value of ours, takes its place.
            on_the_way = [_at(theirs, path[:length]) for length in range(len(path) + 1)]
            if on_the_way[-1] is MISSING and all(said is MISSING or isinstance(said, dict) for said in on_the_way):
                assert _at(found, path) == value

    @given(trees, with_nulls)
    def test_saying_it_twice_changes_nothing(self, ours: Any, theirs: Any) -> None:
        once = merged(ours, theirs)
        assert merged(once, theirs) == once

    @given(trees)
    def test_nothing_goes_over_values_unchanged(self, ours: Any) -> None:
        assert merged(ours, {}) == ours
        assert merged({}, ours) == ours


MISSING = object()


def _leaves(tree: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every value that is no mapping, with its path."""
    if not isinstance(tree, dict):
        return [(path, tree)]
    return [leaf for key, value in tree.items() for leaf in _leaves(value, (*path, key))]


def _at(tree: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return MISSING
        tree = tree[key]
    return tree
