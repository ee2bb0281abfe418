"""Upgrades past a release that breaks what runs are refused until they are confirmed."""

import pytest

from pulumi_lws.addons.addon import AddOnFacts, UpgradeStep
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.settings import AddOnName
from pulumi_lws.addons.upgrades import numbers, upgrade_problems

FACTS = AddOnFacts(
    name="keda",
    title="Something",
    purpose="tests",
    pin="keda-chart",
    release="something",
    namespace="somewhere",
    steps=(
        UpgradeStep((0, 8), "it forgets", "Write it down."),
        UpgradeStep((1, 0), "it wakes up", "Be quiet.", mended=((1, 2, 3), (1, 4, 1))),
    ),
)


def crossed(old: str, new: str, confirmed: str | None = None) -> list[str]:
    return [problem.allowed.partition(": ")[2] for problem in upgrade_problems(FACTS, old, new, confirmed)]


@pytest.mark.parametrize(
    ("old", "new", "steps"),
    [
        # The same, or below.
        ("0.7.0", "0.7.0", []),
        ("0.6.0", "0.7.9", []),
        # To it, past it, from it.
        ("0.7.9", "0.8.0", ["it forgets"]),
        ("v0.7.9", "v0.9.1", ["it forgets"]),
        ("0.8.0", "0.9.0", []),
        ("0.8.0", "0.8.1", []),
        # Several, and versions that look smaller as text.
        ("0.7.0", "1.0.0", ["it forgets", "it wakes up"]),
        ("0.9.0", "0.10.0", []),
        ("0.7.10", "0.10.0", ["it forgets"]),
        # Releases that are mended, and those between them that are not.
        ("0.9.0", "1.2.2", ["it wakes up"]),
        ("0.9.0", "1.2.3", []),
        ("0.9.0", "1.2.9", []),
        ("0.9.0", "1.3.9", ["it wakes up"]),
        ("0.9.0", "1.4.0", ["it wakes up"]),
        ("0.9.0", "1.4.1", []),
        ("0.9.0", "2.0.0", []),
        ("1.0.0", "1.2.2", []),
    ],
)
def test_an_upgrade_is_refused_where_it_crosses_such_a_release(old: str, new: str, steps: list[str]) -> None:
    assert crossed(old, new) == steps


@pytest.mark.parametrize(
    ("confirmed", "steps"),
    [("1.0.0", []), ("1.0.1", ["it forgets", "it wakes up"]), (None, ["it forgets", "it wakes up"])],
)
def test_only_a_confirmation_of_this_very_version_lets_it_go(confirmed: str | None, steps: list[str]) -> None:
    assert crossed("0.7.0", "1.0.0", confirmed) == steps


def test_a_refusal_says_what_happens_and_what_to_do() -> None:
    assert [str(problem) for problem in upgrade_problems(FACTS, "0.7.0", "0.8.0")] == [
        (
            "version: found 0.8.0 while 0.7.0 runs; allowed: an upgrade that is prepared: it forgets. Write it down."
            " Then set confirmUpgradeTo: 0.8.0."
        ),
    ]


def test_a_downgrade_is_refused_until_it_is_confirmed() -> None:
    assert [str(problem) for problem in upgrade_problems(FACTS, "0.10.0", "0.9.0")] == [
        (
            "version: found 0.9.0; allowed: 0.10.0 or later: it is installed. Keep 0.10.0, or go on to a later one;"
            " what the newer one has stored may not be read by the older one. Then set confirmUpgradeTo: 0.9.0."
        ),
    ]
    assert upgrade_problems(FACTS, "0.10.0", "0.9.0", "0.9.0") == []


@pytest.mark.parametrize(
    ("name", "old", "new", "refused"),
    [
        ("lws", "0.7.0", "0.8.0", 1),
        ("lws", "0.7.0", "0.10.0", 1),
        ("lws", "0.8.0", "0.10.0", 0),
        ("lws", "0.9.0", "0.11.0", 1),
        ("kueue", "0.16.1", "0.17.0", 1),
        ("kueue", "0.17.8", "0.18.4", 1),
        ("kueue", "0.17.8", "0.18.6", 0),
        ("kueue", "0.17.8", "0.19.1", 2),
        ("kueue", "0.17.8", "0.19.2", 1),
        ("kueue", "0.18.4", "0.19.2", 1),
        ("keda", "2.19.0", "2.20.2", 0),
    ],
)
def test_the_releases_that_are_known_to_break_what_runs(name: AddOnName, old: str, new: str, refused: int) -> None:
    assert len(upgrade_problems(ADD_ONS[name], old, new)) == refused


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.10.0", (0, 10, 0)),
        ("v1.9.0", (1, 9, 0)),
        ("0.8.0-rc.1", (0, 8, 0)),
        ("1.35.4+k3s1", (1, 35, 4)),
        ("main", ()),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, expected: tuple[int, ...]) -> None:
    assert numbers(version) == expected
