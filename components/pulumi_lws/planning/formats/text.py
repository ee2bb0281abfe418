"""A plan as a picture for terminals, that is as readable without colours."""

from collections.abc import Iterator, Mapping, Sequence

from pulumi_lws.checking.formats.wording import visible
from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.formats.blocks import Line, bar, beside, box, wrapped
from pulumi_lws.planning.formats.wording import (
    MOST_DRAWN,
    WAYS,
    Mark,
    assumptions,
    context_line,
    headline,
    marks,
    memory_line,
    needed_on_top,
    pool_line,
    role_line,
    steps_line,
    verdict,
)
from pulumi_lws.planning.memory import GpuMemory
from pulumi_lws.planning.plan import Headroom, Plan, Pool, QuotaUse, RolePlan
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.planning.times import WayTimes

WIDTH = 100
"""Columns that a plan takes where nobody says how many there are."""

_BAR = 60
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.UNSEEN: "cyan"}
_COLOURS = ("cyan", "magenta", "green", "blue", "yellow", "red")

_LABEL = 15
"""Columns before the facts of a role."""


def plain(plan: Plan, width: int = WIDTH) -> str:
    """Draw the plan without colours."""
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines_of(plan, width))


def lines_of(plan: Plan, width: int = WIDTH) -> Iterator[Line]:
    """Yield the plan line by line: the verdict, the picture, the roles, what is to be known, what is wrong."""
    style = "bold green" if plan.is_applicable else "bold red"
    yield from wrapped(f"{visible(plan.stack)} {verdict(plan)}  ", headline(plan), width, label_style=style)
    marked = marks(plan, len(_COLOURS))
    for pool in plan.pools:
        yield []
        yield from wrapped(f"{pool.name}  ", pool_line(plan, pool), width, label_style="bold")
        yield from _picture(plan, pool, marked, width)
    pools = {pool.name: pool for pool in plan.pools}
    for role in plan.roles:
        yield []
        yield from _role(role, pools[role.pool], marked[role.name, role.role], width)
    yield from _section(_rooms(plan.headroom), width)
    yield from _section(_quotas(plan.quotas), width)
    yield from _section(
        [("risk", "magenta", visible(f"{risk.subject}: {risk.what} {risk.remedy}")) for risk in plan.risks], width
    )
    yield from _section([("assumed", "dim", text) for text in assumptions(plan.roles)], width)
    if plan.problems:
        yield []
    for problem in plan.problems:
        yield from _problem(problem, width)


def _picture(plan: Plan, pool: Pool, marked: Mapping[tuple[str, str], Mark], width: int) -> Iterator[Line]:
    """Yield the islands, or the nodes of a plain pool, with a cell for each GPU."""
    cells: dict[tuple[int, int], tuple[str, str]] = {}
    for role, group, pod in plan.pods(pool.name):
        mark = marked[role.name, role.role]
        for gpu in pod.gpu_numbers:
            label = f"{mark.letter}{group.index}" if gpu == pod.first_gpu else ""
            cells[pod.node, gpu] = label, _COLOURS[mark.colour]
    cell_width = max([2, *(len(label) for label, _ in cells.values())])
    busy = {node for node, _ in cells}
    per_box = pool.nodes_per_island
    boxes: list[list[Line]] = []
    left_out = 0
    for first in range(0, pool.nodes, per_box):
        nodes = range(first, first + per_box)
        if pool.nodes // per_box > MOST_DRAWN and not busy & set(nodes):
            left_out += 1
            continue
        rows = [_row(cells, node, pool.gpus_per_node, cell_width) for node in nodes]
        boxes.append(box(pool.island_of(first) or f"node {first}", rows, "dim"))
    yield from beside(boxes, width)
    if left_out:
        yield [(f"and {counted(left_out, 'free island' if pool.islands else 'free node')}", "dim")]


def _row(cells: Mapping[tuple[int, int], tuple[str, str]], node: int, gpus: int, width: int) -> Line:
    line: Line = []
    for gpu in range(gpus):
        label, colour = cells.get((node, gpu), ("·" * width, "dim"))
        line += [(" ", "")] if line else []
        line.append((label.ljust(width) if label else "■" * width, f"bold {colour}" if label else colour))
    return line


def _role(role: RolePlan, pool: Pool, mark: Mark, width: int) -> Iterator[Line]:
    colour = _COLOURS[mark.colour]
    name = role.name if role.role == "serve" else f"{role.name} {role.role}"
    yield from wrapped(f"{mark.letter}  {name}  ", role_line(role, pool), width, label_style=f"bold {colour}")
    if role.memory:
        yield [(_label("GPU memory"), "dim"), *_memory_bar(role.memory, colour, min(_BAR, width - _LABEL))]
        yield from wrapped(" " * _LABEL, memory_line(role.memory), width)
        yield from wrapped(_label("KV cache"), context_line(role.memory), width, label_style="dim")
    else:
        why = "nobody said what the model is like" if role.parallelism else "it runs what is sent to it"
        yield from wrapped(_label("GPU memory"), f"not checked: {why}", width, style="dim")
    if role.times:
        yield from wrapped(_label("first start"), steps_line(role.times.first), width, label_style="dim")
        yield from wrapped(_label("next copy"), steps_line(role.times.next), width, label_style="dim")
        for number, times in enumerate(role.times.ways):
            yield from wrapped(_label("" if number else "weights by"), _way(times), width, label_style="dim")


def _way(times: WayTimes) -> str:
    used = "  ← in use" if times.in_use else ""
    name = WAYS[times.way].ljust(max(map(len, WAYS.values())))
    return f"{name} {times.load:>4} min, first start {times.first:>4}, next copy {times.next:>4}{used}"


def _memory_bar(memory: GpuMemory, colour: str, columns: int) -> Line:
    parts = [
        (memory.weights, "█", colour),
        (memory.kv, "▓", colour),
        (memory.reserve, "▒", colour),
        (memory.limit - memory.total, "░", "dim"),
    ]
    return bar(parts, max(memory.gpu, memory.total), columns)


def _label(text: str) -> str:
    return f"   {text}".ljust(_LABEL)


def _rooms(rooms: Sequence[Headroom]) -> Iterator[tuple[str, str, str]]:
    for room in rooms:
        yield "rollout", "bold", f"on {room.pool} {needed_on_top(room)}; {room.available_gpus} GPUs are free"


def _quotas(quotas: Sequence[QuotaUse]) -> Iterator[tuple[str, str, str]]:
    for quota in quotas:
        limit = f"; the account has {quota.limit_vcpus:,}" if quota.limit_vcpus is not None else ""
        most = f", {quota.most_vcpus:,} with every node" if quota.most_vcpus > quota.used_vcpus else ""
        yield "quota", "bold", f"{quota.name} ({quota.code}): {quota.used_vcpus:,} vCPUs{most}{limit}"


def _section(entries: Sequence[tuple[str, str, str]] | Iterator[tuple[str, str, str]], width: int) -> Iterator[Line]:
    first = True
    for label, style, text in entries:
        if first:
            yield []
            first = False
        yield from wrapped(label.ljust(9), text, width, label_style=style)


def _problem(problem: Problem, width: int) -> Iterator[Line]:
    label = f"{problem.severity:<9}"
    yield from wrapped(
        label, visible(problem.path) or "the file", width, style="bold", label_style=_STYLES[problem.severity]
    )
    indent = " " * len(label)
    said = f"found {visible(problem.found)}; allowed: {visible(problem.allowed)}"
    yield from wrapped(indent, said, width)
    yield from wrapped(indent, f"fix: {visible(problem.fix)}", width, style="green")
