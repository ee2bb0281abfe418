"""Every order of events around a group: the laws of two-phase readiness hold in all of them.

The bounds are those of the wiring: two probes, 5 s apart, and what a probe may take (an interpreter, a look-up of 1 s,
an answer of 3 s).
"""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulumi_lws.serving import two_phase_probe as probe
from tests.serving.group_model import longest, play
from tests.serving.group_scenario import Event, Policy, Record, Scenario

WINDOW = 30.0
"""Longest time in which a leader that never served is Ready."""
UNNOTICED = 2 * 5 + 3 + 1
"""Longest time in which a leader is Ready though it stopped serving, or though its first worker has a name."""
ROUNDS = 2
"""How often a group may start over after the last disturbance: what was half started dies at its budget, once."""

EVENTS: tuple[Event, ...] = ("worker exits", "worker deleted", "leader restarts", "leader deleted", "engine stops")
TROUBLES = {
    "calm": Scenario(),
    "controller down at the start": Scenario(controller_down=(0, 200)),
    "controller down in the window": Scenario(controller_down=(41, 400)),
    "controller down in the next window too": Scenario(controller_down=(41, 700)),
    "controller down past the budget": Scenario(controller_down=(41, 2_500)),
    "no resolver at the start": Scenario(resolver_down=(0, 130)),
    "no resolver in the window": Scenario(resolver_down=(43, 60)),
    "no resolver for long": Scenario(resolver_down=(30, 900)),
    "slow names": Scenario(dns_lag=25),
    "the clock jumps in the window": Scenario(clock_jump=(45, 250)),
    "the clock jumps by a day": Scenario(clock_jump=(60, 86_400)),
    "no place for files": Scenario(remembers=False),
    **{
        f"{event} at {time}": Scenario(events=((time, event),))
        for event in EVENTS
        for time in (20, 43, 50, 100, 400, 1_200)
    },
    **{
        f"{first}, then {second}": Scenario(events=((100, first), (118, second)))
        for first in EVENTS
        for second in EVENTS
    },
    **{f"{event}, controller down": Scenario(controller_down=(90, 350), events=((100, event),)) for event in EVENTS},
    **{
        f"{event} while it serves, controller down": Scenario(controller_down=(890, 1_500), events=((900, event),))
        for event in EVENTS
    },
    **{f"{event}, no resolver": Scenario(resolver_down=(90, 500), events=((100, event),)) for event in EVENTS},
}
POLICIES: tuple[Policy, ...] = ("RecreateGroupAfterStart", "RecreateGroupOnPodRestart")
NODES = {"warm nodes": (2.0, 5.0), "nodes that boot": (130.0, 60.0), "nodes that boot slowly": (650.0, 300.0)}


def check(scenario: Scenario) -> Record:
    """Play a scenario until the group must be ready, and hold every law against it."""
    patience = probe.PATIENCE_SECONDS + scenario.worker_grace + 2 * scenario.dns_lag + 120
    limit = scenario.calm + ROUNDS * (scenario.budget + probe.WINDOW_PERIOD_SECONDS + patience) + scenario.cold_start
    record = play(scenario, limit)
    assert record.ready_at < limit, "a group that can serve is ready in the end"
    fresh = [one for one in record.windows if not one.served_before]
    assert longest([one.seconds for one in fresh]) <= WINDOW, "a window is short"
    assert longest(record.named) <= UNNOTICED, "no window outlives the name of the first worker"
    stopped = [one.seconds for one in record.windows if one.served_before]
    # Without a place for files a leader does not know that it served, and may gather once more.
    noticed = UNNOTICED if scenario.remembers else UNNOTICED + WINDOW
    assert longest(stopped) <= noticed, "a leader that stops serving is noticed"
    assert all(one.served_before and one.seconds <= UNNOTICED for one in record.counted), "a group counts if it serves"
    for age, silence in record.kills:
        assert age >= scenario.budget or silence >= probe.PATIENCE_SECONDS, "nothing is killed inside its budget"
    return record


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_laws_hold_in_every_order_of_events(trouble: str) -> None:
    groups = ((2, 0.0, False), (4, 4.9, True))
    for (address, start), policy, (size, phase, exits) in itertools.product(NODES.values(), POLICIES, groups):
        nodes = replace(TROUBLES[trouble], address_after=address, starts_after=start)
        scenario = replace(nodes, size=size, policy=policy, exits=exits, first_probe=phase)
        check(scenario)
        check(replace(scenario, startup="workers_first", exits=not exits, hangs_on_health=True))


@pytest.mark.parametrize("back_at", range(60, 800, 47))
def test_what_was_down_in_a_window_finds_the_next_one(back_at: int) -> None:
    down = (41.0, float(back_at))
    for scenario in (Scenario(controller_down=down), Scenario(resolver_down=down)):
        late = check(scenario).ready_at - back_at
        assert late <= probe.WINDOW_PERIOD_SECONDS + scenario.cold_start + 10


SPANS = st.tuples(st.floats(0, 1_500), st.floats(0, 900)).map(lambda span: (span[0], span[0] + span[1]))
SCENARIOS = st.builds(
    Scenario,
    size=st.integers(2, 5),
    policy=st.sampled_from(["RecreateGroupAfterStart", "RecreateGroupOnPodRestart"]),
    startup=st.sampled_from(["leader_first", "workers_first"]),
    listens_after=st.floats(0.1, 120),
    address_after=st.floats(0.5, 900),
    starts_after=st.floats(0.5, 400),
    loads_for=st.floats(1, 900),
    first_probe=st.floats(0, 5),
    uneven=st.floats(0, 0.5),
    dns_lag=st.floats(0, 30),
    worker_grace=st.floats(0, 60),
    exits=st.booleans(),
    hangs_on_health=st.booleans(),
    remembers=st.booleans(),
    controller_down=SPANS,
    resolver_down=SPANS,
    clock_jump=st.tuples(st.floats(0, 1_500), st.floats(0, 4_000)),
    events=st.lists(st.tuples(st.floats(0, 2_500), st.sampled_from(EVENTS)), max_size=4).map(tuple),
)


@settings(max_examples=200)
@given(SCENARIOS)
def test_the_laws_hold_in_any_scenario(scenario: Scenario) -> None:
    check(scenario)
