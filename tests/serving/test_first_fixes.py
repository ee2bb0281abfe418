"""What is said first is what to do: who does it meets no further error."""

import pytest

from tests.serving.stacks import broken

BROKEN = broken("fixes")


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_said_with_what_will_do(case: str) -> None:
    assert BROKEN[case].answers() == BROKEN[case].said


@pytest.mark.parametrize("case", BROKEN)
def test_who_does_what_is_said_meets_no_further_error(case: str) -> None:
    assert [line for line in BROKEN[case].answers_once_mended() if line.startswith("error")] == []
