from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.planning.problems import Severity
from pulumi_lws.planning.times import (
    Start,
    Step,
    Way,
    WayTimes,
    budget_problems,
    in_whole_minutes,
    minutes,
    start_times,
)

GLM_5 = Start(weights_gb=756, way="download")
WAYS: list[Way] = ["download", "local-disk", "s3-stream", "shared-volume", "shared-volume-stream"]


def names(steps: tuple[object, ...]) -> list[str]:
    return [step.name for step in steps]  # type: ignore[attr-defined]  # they are steps


def test_a_first_start_boots_pulls_downloads_loads_and_warms_up() -> None:
    times = start_times(GLM_5)
    assert names(times.first) == ["node boot", "image pull", "download", "weights", "warm-up"]
    assert [round(step.minutes, 1) for step in times.first] == [10, 6.1, 12.6, 14.0, 10]
    assert (minutes(times.first), times.next) == (53, times.first)


def test_nodes_that_are_there_need_no_boot_but_pull_the_image() -> None:
    assert names(start_times(replace(GLM_5, nodes_are_there=True)).first) == [
        "image pull",
        "download",
        "weights",
        "warm-up",
    ]


def test_images_that_are_pulled_beforehand_are_there_where_the_nodes_are() -> None:
    pulled = replace(GLM_5, pre_pulled=True)
    times = start_times(replace(pulled, nodes_are_there=True))
    assert (names(times.first), names(times.next)) == (["download", "weights", "warm-up"],) * 2
    assert start_times(pulled) == start_times(GLM_5)


def test_a_start_is_compared_with_every_way_that_the_weights_could_come() -> None:
    assert start_times(replace(GLM_5, way="s3-stream")).ways == (
        WayTimes("download", in_use=False, load=27, first=53, next=53),
        WayTimes("local-disk", in_use=False, load=14, first=41, next=41),
        WayTimes("s3-stream", in_use=True, load=4, first=30, next=30),
        WayTimes("shared-volume", in_use=False, load=97, first=124, next=124),
        WayTimes("shared-volume-stream", in_use=False, load=7, first=33, next=33),
    )


@given(
    st.builds(
        Start,
        st.floats(0, 2000),
        st.sampled_from(WAYS),
        nodes_are_there=st.booleans(),
        pre_pulled=st.booleans(),
        next_shares_a_node=st.booleans(),
        downloads_stay=st.booleans(),
    )
)
def test_the_way_in_use_takes_as_long_as_the_start_itself(start: Start) -> None:
    times = start_times(start)
    assert [each.way for each in times.ways] == WAYS
    assert [(each.way, each.first, each.next) for each in times.ways if each.in_use] == [
        (start.way, minutes(times.first), minutes(times.next))
    ]


def test_one_more_copy_on_a_running_node_starts_with_its_weights() -> None:
    shares = replace(GLM_5, next_shares_a_node=True, next_finds_kernels=True)
    assert names(start_times(shares).next) == ["download", "weights", "warm-up"]
    stays = start_times(replace(shares, downloads_stay=True)).next
    assert (names(stays), stays[-1].minutes) == (["weights", "warm-up"], 5)


def test_every_step_says_what_it_rests_on() -> None:
    assert all(step.assumption for way in WAYS for step in start_times(replace(GLM_5, way=way)).first)


@given(st.lists(st.floats(0, 200), min_size=1, max_size=6))
def test_whole_minutes_add_up_and_none_is_off_by_a_minute(parts: list[float]) -> None:
    steps = tuple(Step("step", part, "") for part in parts)
    whole = in_whole_minutes(steps)
    assert sum(whole) == minutes(steps)
    assert all(abs(shown - part) < 1 or shown == part + 1 for shown, part in zip(whole, parts, strict=True))


def test_measured_loads_are_met() -> None:
    # Kimi K2 of 554 GiB from Lustre: 4,575 s file by file from one stripe, 318 s streamed and striped.
    kimi = Start(weights_gb=554 * 1.0737, way="shared-volume")
    assert start_times(kimi).first[2].minutes == pytest.approx(4575 / 60, rel=0.02)
    assert start_times(replace(kimi, way="shared-volume-stream")).first[2].minutes == pytest.approx(318 / 60, rel=0.02)


@pytest.mark.parametrize(("budget", "severity"), [(53, None), (52, Severity.WARNING), (20, Severity.ERROR)])
def test_a_budget_below_the_estimate_is_a_warning_and_below_the_load_alone_an_error(
    budget: int, severity: Severity | None
) -> None:
    problems = budget_problems(replace(GLM_5, budget_minutes=budget), "deployments.glm-5")
    assert [problem.severity for problem in problems] == ([severity] if severity else [])


def test_a_budget_problem_says_the_parts_and_two_ways_out() -> None:
    slow = Start(weights_gb=756, way="shared-volume")
    (problem,) = budget_problems(slow, "deployments.glm-5")
    assert (problem.path, problem.found, problem.allowed, problem.fix, problem.severity) == (
        "deployments.glm-5.startBudgetMinutes",
        "60",
        "at least 124, as a first start is estimated in minutes: node boot 10, image pull 7, weights 97, warm-up 10",
        "Raise it to 125, or read the weights faster: stream them (source.stream: true, and striped files).",
        Severity.ERROR,
    )


@given(st.floats(0.1, 2000), st.sampled_from(WAYS))
def test_the_budget_that_a_fix_names_is_enough(weights_gb: float, way: Way) -> None:
    start = Start(weights_gb, way, budget_minutes=1)
    (problem,) = budget_problems(start, "")
    enough = int(problem.fix.split("Raise it to ")[1].split(",")[0])
    assert budget_problems(replace(start, budget_minutes=enough), "") == []


@given(st.floats(0, 2000), st.sampled_from(WAYS), st.booleans(), st.booleans())
def test_one_more_copy_never_takes_longer_than_the_first(
    weights_gb: float, way: Way, shares: bool, kernels: bool
) -> None:
    times = start_times(Start(weights_gb, way, next_shares_a_node=shares, next_finds_kernels=kernels))
    assert minutes(times.next) <= minutes(times.first)
