"""Rule: the workers of a Ray cluster in a group join its head."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.engine_commands import Commands, commands_of
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, Template, about_groups
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import Unknown, unseen

_FIX = 'Start workers with ray start --block --address="$LWS_LEADER_ADDRESS:6379", and the head on that port.'
_PORT: Final = "6379"
_OWN_HOST: Final = ("127.0.0.1", "localhost", "0.0.0.0", "auto")  # noqa: S104 - addresses to refuse


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    if groups.size == 1 or len(templates := groups.templates()) == 1:
        return
    heads, joining = ([*_ray_starts(template)] for template in templates)
    unread = [path for path, command in (*heads, *joining) if command is None]
    if unread:
        yield from (unseen(path, "whether the workers of Ray find its head") for path in unread)
        return
    if len(heads) != 1 or len(joining) != 1 or heads[0][1] is None or not heads[0][1].has("--head"):
        return
    yield from _join(*joining[0], heads[0][1].option("--port") or _PORT)


def _ray_starts(template: Template) -> Iterable[tuple[str, Commands | None]]:
    """Yield the commands that start Ray, with their paths; None for one that is not known yet."""
    for path, container in template.containers():
        commands = commands_of(container)
        if isinstance(commands, Unknown):
            yield path, None
            continue
        for line in commands.lines:
            if any(one.rpartition("/")[2] == "ray" and two == "start" for one, two in pairwise(line)):
                yield f"{path}.command", Commands((line,))


def _join(path: str, command: Commands | None, port: str) -> Iterable[Problem]:
    if command is None:
        return
    address = command.option("--address") or ""
    host, _, joined = address.rpartition(":")
    if command.has("--head"):
        yield Problem(path, "--head in a worker", "--address of the leader: each would be a cluster of its own", _FIX)
    elif host in _OWN_HOST or address in _OWN_HOST:
        yield Problem(path, f"--address {address}, which is the pod itself", "$LWS_LEADER_ADDRESS", _FIX)
    elif joined.isdecimal() and port.isdecimal() and host and joined != port:
        yield Problem(path, f"--address with port {joined}, and the head on {port}", "the port of the head", _FIX)


RAY_JOINS = Rule(
    name="ray-joins",
    title="The workers of a Ray cluster in a group join the head of their leader.",
    why=(
        "A worker that starts a head of its own, or looks for one elsewhere, never joins: the leader waits for its"
        " nodes until its time-out, and the group holds its GPUs meanwhile. The rule judges plain commands, not scripts"
        " of images."
    ),
    fix=_FIX,
    severity=Severity.ERROR,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
