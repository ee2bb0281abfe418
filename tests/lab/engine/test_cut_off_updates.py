"""An update of the whole local stack that is killed: the next one ends as if nothing had happened."""

from typing import Any

import pytest

from lab.end_states import EndState, differences, end_state
from lab.soak import UP, Way, cut_off, recover

pytestmark = pytest.mark.lab

POINTS = {
    # What is made up for it must not be in the way of what is made up the next time.
    "early, at a password": (r"Secret \S+grafana-admin creating", Way.ENGINE),
    "in a chart": (r"Deployment \S+kueue-controller-manager creating", Way.MACHINE),
    "late, at a deployment": (r"LeaderWorkerSet \S+ creating", Way.MACHINE),
}


@pytest.fixture(scope="module")
def undisturbed(whole_stack_to_throw_away: Any) -> EndState:
    """What an update ends in that nobody cuts off."""
    with whole_stack_to_throw_away() as (lab, one), lab.api() as api:
        one.succeeds(*UP)
        return end_state(one, api)


@pytest.mark.parametrize(("pattern", "way"), POINTS.values(), ids=POINTS)
def test_an_update_that_was_killed_and_run_again_ends_as_if_undisturbed(
    pattern: str, way: Way, whole_stack_to_throw_away: Any, undisturbed: EndState
) -> None:
    with whole_stack_to_throw_away() as (lab, one):
        assert cut_off(one, pattern, 1, way)
        # Killed while it writes those, the engine would leave a state that nobody can load.
        assert list(one.folder.parent.rglob("*.attrs")) == []
        recover(one)
        with lab.api() as api:
            assert differences(undisturbed, end_state(one, api)) == []
        one.succeeds("preview", "--expect-no-changes")
