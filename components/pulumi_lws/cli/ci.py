"""``lws ci``: what the workflows of a pull request and of a schedule run, so that nothing is decided in their YAML."""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pulumi_lws.ci.github import Place
    from pulumi_lws.ci.notes import Change, Note
    from pulumi_lws.ci.stacks import Project

ci = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Stacks that a change touches, and notes about them on GitHub."
)

_Author = Annotated[str, typer.Option(metavar="NAME", help="Whose notes are written anew: the token's own account.")]
_ACTIONS = "github-actions[bot]"
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
"""What Pulumi takes for the name of a stack."""


@ci.command()
def stacks(
    *,
    base: Annotated[
        str | None, typer.Option(metavar="REVISION", help="Only the stacks that a change since then touches.")
    ] = None,
    head: Annotated[str, typer.Option(metavar="REVISION", help="Where the change ends.")] = "HEAD",
    ignored: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="PATTERN", help="Paths that do not count, from the repository's root."),
    ] = None,
) -> None:
    """Print the stacks of the project of this folder as a JSON list, for the matrix of a workflow.

    With --base, the stacks that a change touches: a stack's file touches its stack, any other file all of them, and
    pages (*.md) none. --ignore leaves out more, and stacks whose own files it matches; * stands for any text.
    """
    # Loaded here, as below, so that help and completion are quick.
    from pulumi_lws.ci.stacks import changed_files, counted, repository_root, touched  # noqa: PLC0415

    for option, revision in (("--base", base), ("--head", head)):
        if revision is not None and not revision.strip():
            raise typer.BadParameter("it is empty; a variable that is not set?", param_hint=option)
    project, patterns = _project(), ignored or []
    with _readable():
        root = repository_root()
        if base is None:
            typer.echo(json.dumps(counted(project, root, patterns)))
            return
        found = touched(project, root, patterns, changed_files(base, head))
    for stack, path in found.items():
        typer.echo(f"{stack}: touched by {path}", err=True)
    typer.echo(json.dumps(list(found)))


@ci.command()
def comment(
    *,
    reports: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where <stack>.md is for each stack.")],
    touched: Annotated[str, typer.Option("--stacks", metavar="JSON", help="The stacks, as `lws ci stacks` says them.")],
    pull_request: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="The pull request. Default: that of the event.")
    ] = None,
    author: _Author = _ACTIONS,
) -> None:
    """Write the comment of each stack on a pull request: a new one, or that of an earlier run anew.

    A stack without a report gets a comment that says so; the comment of a stack that is touched no longer, too. Reads
    the variables GITHUB_* of a job, and GITHUB_TOKEN, which needs pull-requests: write. If GitHub refuses the token,
    as for forks, the reports go into the summary of the job. Exit code 0: they are where people look; 1: GitHub could
    not be told; 2: something cannot be read.
    """
    from pulumi_lws.ci.github import comments_of  # noqa: PLC0415
    from pulumi_lws.ci.notes import comments, marked  # noqa: PLC0415

    project = _project()
    texts = {f"{project.name}/{stack}": _text(reports / f"{stack}.md") for stack in _names(touched)}
    bodies = {stack: marked(stack, text, _run()) for stack, text in texts.items()}
    _settle(
        comments_of(pull_request or _number()),
        lambda there: comments(project.name, bodies, there, author),
        [texts[stack] or body for stack, body in bodies.items()],
    )


@ci.command()
def drift(
    *,
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="The report, if there is one.")],
    stack: Annotated[str, typer.Option(metavar="NAME", help="The stack.")],
    outcome: Annotated[
        str,
        typer.Option(metavar="WORD", help="How `pulumi preview --refresh --expect-no-changes` ended: success or not."),
    ],
    author: _Author = _ACTIONS,
) -> None:
    """Open the issue of a stack that is not as declared, write it anew, or close it.

    Reads the variables GITHUB_* of a job, and GITHUB_TOKEN, which needs issues: write. A stack that could not be
    previewed has an issue, too. Exit codes are those of `lws ci comment`.
    """
    from pulumi_lws.ci.github import ISSUES  # noqa: PLC0415
    from pulumi_lws.ci.notes import issues, marked  # noqa: PLC0415

    if not _NAME.fullmatch(stack):
        raise typer.BadParameter("it is no name of a stack", param_hint="--stack")
    full, text = f"{_project().name}/{stack}", _text(report)
    body = None if outcome == "success" else marked(full, text, _run())
    _settle(ISSUES, lambda there: issues(full, body, there, author), [text or body] if body else [])


def _settle(place: "Place", decide: "Callable[[Sequence[Note]], Sequence[Change]]", otherwise: Sequence[str]) -> None:
    """Write notes, or else their texts into the summary of the job."""
    from pulumi_lws.ci.github import ForgeError, GitHub, RefusedError, reach  # noqa: PLC0415
    from pulumi_lws.reporting.formats.md import LONGEST_COMMENT  # noqa: PLC0415

    api = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    token = _given("GITHUB_TOKEN")
    if not (token.isascii() and token.isprintable()):
        raise typer.BadParameter("GITHUB_TOKEN has characters that no token has, such as the end of a line.")
    try:
        reach(GitHub(api, _given("GITHUB_REPOSITORY"), token), place, decide)
    except ForgeError as error:
        typer.echo(f"{error}.", err=True)
        _summarise(otherwise)
        if not isinstance(error, RefusedError):
            raise typer.Exit(1) from None
        typer.echo(
            "The token may not write. That of a pull request from a fork or from Dependabot never may; any other"
            " job needs `pull-requests: write` for comments, and `issues: write` for issues.",
            err=True,
        )
    else:
        _summarise([text for text in otherwise if len(text) > LONGEST_COMMENT])


def _summarise(texts: Sequence[str]) -> None:
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if file and texts:
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.writelines(f"{text}\n" for text in texts)
        typer.echo("What was to be written stands in the summary of the job.", err=True)


def _project() -> "Project":
    from pulumi_lws.ci.stacks import read_project  # noqa: PLC0415

    with _readable():
        return read_project(Path.cwd())


@contextmanager
def _readable() -> Iterator[None]:
    from pulumi_lws.ci.stacks import UnreadableProjectError  # noqa: PLC0415

    try:
        yield
    except UnreadableProjectError as error:
        typer.echo(f"unreadable {error}", err=True)
        raise typer.Exit(2) from None


def _text(report: Path) -> str:
    """Return a report; empty where there is none."""
    try:
        return report.read_text(encoding="utf-8") if report.exists() else ""
    except (OSError, UnicodeDecodeError):
        raise typer.BadParameter(f"{report}: it is no text that can be read") from None


def _names(text: str) -> list[str]:
    try:
        names = json.loads(text)
    except ValueError:
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        raise typer.BadParameter('it is no JSON list of names of stacks, as ["dev", "prod"]', param_hint="--stacks")
    return names


def _number() -> int:
    try:
        event = json.loads(Path(_given("GITHUB_EVENT_PATH")).read_text(encoding="utf-8"))
        return int(event["pull_request"]["number"])
    except (OSError, ValueError, KeyError, TypeError):
        raise typer.BadParameter(
            "the event is none of a pull request; say which with --pull-request", param_hint="GITHUB_EVENT_PATH"
        ) from None


def _run() -> str:
    server, run = os.environ.get("GITHUB_SERVER_URL", "https://github.com"), os.environ.get("GITHUB_RUN_ID", "")
    return f"{server}/{os.environ.get('GITHUB_REPOSITORY', '')}/actions/runs/{run}"


def _given(variable: str) -> str:
    if value := os.environ.get(variable, "").strip():
        return value
    raise typer.BadParameter(f"{variable} is not set; a job of GitHub Actions sets it, or its `env` has to")
