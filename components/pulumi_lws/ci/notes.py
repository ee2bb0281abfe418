"""What to write where people look: one comment for each stack on a pull request, one issue for each that drifted.

A hidden first line names the stack. By it the note of an earlier run is found, among those of the same author only, and
written anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pulumi_lws.reporting.formats.md import LONGEST_COMMENT, MARK, mark


@dataclass(frozen=True)
class Note:
    """A comment or an issue that is there already.

    Attributes:
        number: By which it is reached.
        author: Who wrote it.
        body: Its text.
    """

    number: int
    author: str
    body: str


@dataclass(frozen=True)
class Change:
    """Something to write.

    Attributes:
        number: Of the note to change; None for a new one.
        content: The fields to set, as GitHub names them.
    """

    number: int | None
    content: Mapping[str, str]


def marked(stack: str, text: str, run: str) -> str:
    """Return the text of a note about a stack.

    Args:
        stack: Project and stack.
        text: The report; empty where there is none.
        run: Address of the run, for what does not fit.
    """
    body = text.partition("\n")[2] if text.startswith(MARK) else text
    if not body.strip():
        body = f"### ⚪ No preview of `{stack}`\n\nIts job ended before there was one: {run}"
    whole = f"{mark(stack)}\n{body}"
    if len(whole) <= LONGEST_COMMENT:
        return whole
    return (
        f"{mark(stack)}\n### ⚪ The report on `{stack}` is too long for a comment\n\n"
        f"It has {len(text):,} characters; allowed: {LONGEST_COMMENT:,}. Write it with"
        f" `lws report --max-length {LONGEST_COMMENT}`. It stands whole in the summary of the run: {run}"
    )


def comments(project: str, bodies: Mapping[str, str], there: Sequence[Note], author: str) -> list[Change]:
    """Return what makes the comments of a pull request say what is so now.

    Args:
        project: Name of the project.
        bodies: Stack, with its project → marked text of its comment.
        there: Comments of the pull request.
        author: Whose comments may be written anew.
    """
    changes = []
    ours = _by_mark(there, author)
    for stack, body in bodies.items():
        known = ours.pop(mark(stack), [])
        if not known:
            changes.append(Change(None, {"body": body}))
        elif known[0].body.strip() != body.strip():
            changes.append(Change(known[0].number, {"body": body}))
    for first_line, notes in ours.items():
        gone = f"{first_line}\nThis pull request no longer touches this stack."
        if first_line.startswith(f"{MARK}: {project}/"):
            changes += [Change(note.number, {"body": gone}) for note in notes if note.body.strip() != gone]
    return changes


def issues(stack: str, body: str | None, there: Sequence[Note], author: str) -> list[Change]:
    """Return what makes the open issues say whether a stack is as declared.

    Args:
        stack: Project and stack.
        body: Marked text of its issue; None where all is as declared.
        there: Open issues.
        author: Whose issues may be written anew and closed.
    """
    known = _by_mark(there, author).get(mark(stack), [])
    if body is None:
        return [Change(note.number, {"state": "closed", "state_reason": "completed"}) for note in known]
    if not known:
        return [Change(None, {"title": f"Drift: {stack}", "body": body})]
    return [Change(known[0].number, {"body": body})] if known[0].body.strip() != body.strip() else []


def _by_mark(there: Sequence[Note], author: str) -> dict[str, list[Note]]:
    found: dict[str, list[Note]] = {}
    for note in there:
        first_line = note.body.partition("\n")[0].strip()
        if note.author == author and first_line.startswith(MARK):
            found.setdefault(first_line, []).append(note)
    return found
