"""An update of the whole local stack that is killed: the next one ends as if nothing had happened."""

from typing import Any

import pytest

from lab.cluster.crds import Definitions
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
def undisturbed(bare_lab: Any, whole_stack_with: Any) -> EndState:
    """What an update ends in that nobody cuts off."""
    with whole_stack_with(Definitions()) as one, bare_lab.api() as api:
        one.succeeds(*UP)
        return end_state(one, api)


@pytest.mark.parametrize(("pattern", "way"), POINTS.values(), ids=POINTS)
def test_an_update_that_was_killed_and_run_again_ends_as_if_undisturbed(
    pattern: str, way: Way, bare_lab: Any, whole_stack: Any, undisturbed: EndState
) -> None:
    assert cut_off(whole_stack, pattern, 1, way)
    # Killed while it writes those, the engine would leave a state that nobody can load.
    assert list(whole_stack.folder.parent.rglob("*.attrs")) == []
    recover(whole_stack)
    with bare_lab.api() as api:
        assert differences(undisturbed, end_state(whole_stack, api)) == []
    whole_stack.succeeds("preview", "--expect-no-changes")
