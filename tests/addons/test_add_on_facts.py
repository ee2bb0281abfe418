"""What the package knows of add-ons fits together."""

import pytest

from pulumi_lws.addons.addon import AddOnFacts
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.settings import ADD_ON_NAMES, AddOns
from pulumi_lws.addons.upgrades import numbers
from pulumi_lws.facts.versions import PINS

EACH = pytest.mark.parametrize("facts", ADD_ONS.values(), ids=lambda facts: facts.name)


def test_every_add_on_that_can_be_declared_is_known_once() -> None:
    assert sorted(ADD_ONS) == sorted(ADD_ON_NAMES)
    assert [facts.name for facts in ADD_ONS.values()] == list(ADD_ONS)


def test_an_add_on_is_spelt_as_a_stack_file_has_it() -> None:
    assert {facts.name: facts.key for facts in ADD_ONS.values()} == {
        name: AddOns.model_fields[name].alias for name in ADD_ON_NAMES
    }


@EACH
def test_what_comes_first_stands_before_it(facts: AddOnFacts) -> None:
    earlier = list(ADD_ONS)[: list(ADD_ONS).index(facts.name)]
    assert [name for name in (*facts.after, *facts.needs) if name not in earlier] == []


@EACH
def test_a_pin_tells_chart_and_source(facts: AddOnFacts) -> None:
    assert f"{facts.source}/{facts.chart}" == PINS[facts.pin].source
    assert facts.source.startswith(("oci://", "https://"))


@EACH
def test_every_add_on_has_objects_to_wait_for(facts: AddOnFacts) -> None:
    assert facts.crds or facts.controllers
    assert facts.namespace or not facts.controllers
    assert all(kind in ("Deployment", "DaemonSet") and name for kind, _, name in map(_parted, facts.controllers))


@EACH
def test_the_pinned_version_is_not_too_old(facts: AddOnFacts) -> None:
    assert facts.oldest is None or facts.oldest.version <= numbers(PINS[facts.pin].version)


@EACH
def test_upgrades_to_be_prepared_are_in_order_and_say_where_that_is_known_from(facts: AddOnFacts) -> None:
    assert [step.to for step in facts.steps] == sorted({step.to for step in facts.steps})
    for step in facts.steps:
        assert "https://" in step.breaks
        assert all(first > step.to for first in step.mended)


def test_no_crd_belongs_to_two_add_ons() -> None:
    crds = [name for facts in ADD_ONS.values() for name in facts.crds]
    assert len(crds) == len(set(crds))


def test_no_two_add_ons_have_one_release_or_controller() -> None:
    places = [(facts.namespace, facts.release) for facts in ADD_ONS.values()]
    places += [(facts.namespace, name) for facts in ADD_ONS.values() for name in facts.controllers]
    assert len(places) == len(set(places))


def test_no_pair_is_excluded_twice() -> None:
    pairs = [frozenset((facts.name, other)) for facts in ADD_ONS.values() for other in facts.excludes]
    assert len(pairs) == len(set(pairs))


def _parted(controller: str) -> tuple[str, str, str]:
    return controller.partition("/")
