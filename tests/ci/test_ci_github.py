"""Reaching a state on GitHub, through its failures."""

from typing import Any

import pytest

from pulumi_lws.ci.github import ISSUES, ForgeError, GitHub, PassingError, Place, RefusedError, comments_of, reach
from pulumi_lws.ci.notes import Change, Note
from tests.ci.forge import BOT, TOKEN, Forge

COMMENTS = comments_of(7)


def say_hello(there: object) -> list[Change]:
    return [] if "hello" in str(there) else [Change(None, {"body": "hello"})]


def reached(forge: Forge, place: Place = COMMENTS) -> list[float]:
    """Say hello; the waits until it was said."""
    waits: list[float] = []
    reach(GitHub(forge.address, "team/serving", TOKEN), place, say_hello, waits.append)
    return waits


def test_every_page_is_read(forge: Forge) -> None:
    for number in range(200):
        forge.comment(f"comment {number}")
    found = list(GitHub(forge.address, "team/serving", TOKEN).notes(COMMENTS))
    assert [note.body for note in found] == [f"comment {number}" for number in range(200)]
    assert found[1] == Note(101, BOT, "comment 1")
    assert [path for _, path in forge.asked] == [f"issues/7/comments?per_page=100&page={page}" for page in (1, 2, 3)]


def test_pull_requests_are_no_issues(forge: Forge) -> None:
    forge.issue("one", pull_request={})
    forge.issue("two")
    forge.issue("three", state="closed")
    forge.issue("line\r\nline")
    found = list(GitHub(forge.address, "team/serving", TOKEN).notes(ISSUES))
    assert found == [Note(2, BOT, "two"), Note(4, BOT, "line\nline")]


@pytest.mark.parametrize(
    ("failures", "waits"),
    {
        "a server error": ([(500, {}), (502, {})], [1.0, 2.0]),
        "a cut connection": ([(0, {})], [1.0]),
        "too many requests": ([(429, {"Retry-After": "7"})], [7.0]),
        "too many at once": ([(403, {"Retry-After": "3"})], [3.0]),
        "none left until a time that is over": (
            [(403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"})],
            [0.0],
        ),
    }.values(),
)
def test_what_may_pass_is_tried_again(
    forge: Forge, failures: list[tuple[int, dict[str, str]]], waits: list[float]
) -> None:
    forge.failures += failures
    assert reached(forge) == waits
    assert forge.texts() == ["hello"]


def test_an_answer_that_got_lost_makes_no_second_comment(forge: Forge) -> None:
    forge.lose = 1
    assert reached(forge) == [1.0]
    assert forge.texts() == ["hello"]


def test_a_wait_beyond_patience_is_not_waited_for(forge: Forge) -> None:
    forge.failures.append((429, {"Retry-After": "600"}))
    with pytest.raises(PassingError, match="GitHub answers 429 to GET issues/7/comments"):
        reached(forge)
    assert len(forge.asked) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, ForgeError), (403, RefusedError), (404, ForgeError), (422, ForgeError), (301, ForgeError)],
)
def test_what_does_not_pass_is_said_at_once_and_without_the_token(
    forge: Forge, status: int, kind: type[ForgeError]
) -> None:
    forge.failures.append((status, {"Location": "/elsewhere"}))
    with pytest.raises(ForgeError) as raised:
        reached(forge)
    said = f"GitHub answers {status} to GET issues/7/comments?per_page=100&page=1: no, text (not shown)"
    assert (type(raised.value), str(raised.value), len(forge.asked)) == (kind, said, 1)


def test_an_address_where_nothing_listens_is_said_with_its_reason() -> None:
    def give_up(_: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError) as raised:
        reach(GitHub("http://127.0.0.1:1", "team/serving", TOKEN), COMMENTS, say_hello, give_up)
    assert "GitHub cannot be reached at http://127.0.0.1:1: [Errno 111] Connection refused" in str(
        raised.value.__context__
    )


@pytest.mark.parametrize("item", ["a", {"id": None}, {"id": "x"}, {"user": "x", "id": 1}, {"body": "no id"}])
def test_what_is_no_comment_is_said_without_a_traceback(forge: Forge, item: Any) -> None:
    forge.items = [item]
    with pytest.raises(ForgeError, match="GitHub answers what is no list of issues/7/comments"):
        reached(forge)


def test_the_token_is_not_shown() -> None:
    assert (
        repr(GitHub("https://api.github.com", "team/serving", TOKEN)) == "GitHub(https://api.github.com, team/serving)"
    )
