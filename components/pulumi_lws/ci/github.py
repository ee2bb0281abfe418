"""GitHub's REST API, as much of it as notes need: https://docs.github.com/en/rest/issues.

Writing is to reach a state, not to send requests: after a failure that may pass, what is there is read again and what
is still missing is written. So an answer that got lost makes no second comment.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib import error, request

from pulumi_lws.checking.formats.wording import visible
from pulumi_lws.ci.notes import Change, Note
from pulumi_lws.planning.secrets import without_tokens

PATIENCE_SECONDS = 120
"""For how long failures that may pass are borne."""

_ONE_REQUEST_SECONDS = 20
_PAGE = 100
_MOST_PAGES = 100
_LONGEST_WAIT_SECONDS = 30


class ForgeError(Exception):
    """GitHub does not do what it is asked; the text says what and why, and never holds the token."""


class RefusedError(ForgeError):
    """The token may not do this."""


class PassingError(ForgeError):
    """It may work later.

    Attributes:
        wait: Seconds after which GitHub wants to be asked again; None where it does not say.
    """

    def __init__(self, text: str, wait: float | None = None) -> None:
        super().__init__(text)
        self.wait = wait


@dataclass(frozen=True)
class Place:
    """Where notes are, below the repository's own address.

    Attributes:
        all: What lists them, and where a new one is added.
        one: What one of them stands below.
    """

    all: str
    one: str


ISSUES = Place("issues", "issues")
"""The open issues of a repository; pull requests are left out."""


def comments_of(pull_request: int) -> Place:
    """Return the place of a pull request's comments."""
    return Place(f"issues/{pull_request}/comments", "issues/comments")


class _NoRedirects(request.HTTPRedirectHandler):
    """A redirected POST would become a GET, and look as if it had worked."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = request.build_opener(_NoRedirects)


@dataclass(frozen=True)
class GitHub:
    """The API of one repository.

    Attributes:
        api: Address of the API, without a slash at its end.
        repository: Owner and name.
        token: What it is entered with.
    """

    api: str
    repository: str
    token: str

    def __repr__(self) -> str:
        """Leave the token out."""
        return f"GitHub({self.api}, {self.repository})"

    def notes(self, place: Place) -> Iterator[Note]:
        """Yield all notes of a place.

        Raises:
            ForgeError: They cannot be read.
        """
        for page in range(1, _MOST_PAGES + 1):
            items = self._call("GET", f"{place.all}?per_page={_PAGE}&page={page}")
            if not isinstance(items, list):
                raise ForgeError(f"GitHub answers no list at {self.api}; is that the address of its API?")
            try:
                found = [_note(item) for item in items if "pull_request" not in item]
            except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
                raise ForgeError(f"GitHub answers what is no list of {place.all}; is {self.api} its API?") from None
            yield from found
            if len(items) < _PAGE:
                return
        raise ForgeError(f"GitHub has over {_MOST_PAGES * _PAGE:,} of {place.all}: too many to look for ours")

    def write(self, place: Place, change: Change) -> None:
        """Write one note.

        Raises:
            ForgeError: It was not written.
        """
        if change.number is None:
            self._call("POST", place.all, change.content)
        else:
            self._call("PATCH", f"{place.one}/{change.number}", change.content)

    def _call(self, method: str, path: str, content: Mapping[str, str] | None = None) -> Any:
        asked = request.Request(  # noqa: S310 - the address is the runner's own
            f"{self.api}/repos/{self.repository}/{path}",
            data=None if content is None else json.dumps(content).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "User-Agent": "pulumi-lws",
                "X-GitHub-Api-Version": "2022-11-28",
            },
            method=method,
        )
        try:
            with _OPENER.open(asked, timeout=_ONE_REQUEST_SECONDS) as answer:
                return json.load(answer)
        except error.HTTPError as failure:
            with failure:
                raise _failure(failure, f"{method} {path}") from None
        except (ValueError, RecursionError):
            raise ForgeError(f"GitHub answers no JSON at {self.api}; is that the address of its API?") from None
        except (OSError, HTTPException) as failure:
            reason = getattr(failure, "reason", failure)
            raise PassingError(f"GitHub cannot be reached at {self.api}: {reason}") from None


def reach(
    github: GitHub,
    place: Place,
    decide: Callable[[Sequence[Note]], Sequence[Change]],
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Write until nothing is left to write.

    Args:
        github: Where.
        place: Of which notes.
        decide: What is to be written, given what is there.
        sleep: Waits.

    Raises:
        ForgeError: It cannot be reached, or not in two minutes.
    """
    end, pause = time.monotonic() + PATIENCE_SECONDS, 1.0
    while True:
        try:
            for change in decide(list(github.notes(place))):
                github.write(place, change)
        except PassingError as failure:
            wait = pause if failure.wait is None else failure.wait
            if time.monotonic() + wait > end:
                raise
            sleep(wait)
            pause = min(2 * pause, _LONGEST_WAIT_SECONDS)
        else:
            return


def _failure(failure: error.HTTPError, asked: str) -> ForgeError:
    """Say what an answer means: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api."""
    status, headers = failure.code, failure.headers
    text = f"GitHub answers {status} to {asked}: {_reason(failure)}"
    limited = "Retry-After" in headers or headers.get("X-RateLimit-Remaining") == "0"
    if status == 429 or status >= 500 or (status == 403 and limited):
        after, reset = headers.get("Retry-After", ""), headers.get("X-RateLimit-Reset", "")
        if after.isdecimal():
            return PassingError(text, float(after))
        return PassingError(text, max(0.0, float(reset) - time.time()) if limited and reset.isdecimal() else None)
    return RefusedError(text) if status == 403 else ForgeError(text)


def _reason(failure: error.HTTPError) -> str:
    try:
        said = json.load(failure)["message"]
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        said = failure.reason
    return visible(without_tokens(str(said)))[:300]


def _note(item: Mapping[str, Any]) -> Note:
    author = item.get("user") or {}
    return Note(
        number=int(item["number"] if "number" in item else item["id"]),
        author=str(author.get("login", "")),
        body=str(item.get("body") or "").replace("\r\n", "\n"),
    )
