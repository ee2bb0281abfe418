"""A plan as a picture for documents: it needs no script, and follows the reader's light or dark background."""

from collections.abc import Mapping

from pulumi_lws.checking.formats.wording import visible
from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.formats.canvas import Canvas
from pulumi_lws.planning.formats.wording import (
    MOST_DRAWN,
    WAYS,
    Mark,
    context_line,
    headline,
    marks,
    needed_on_top,
    pool_line,
    role_line,
    step_minutes,
    verdict,
)
from pulumi_lws.planning.memory import GpuMemory
from pulumi_lws.planning.plan import Plan, Pool, RolePlan
from pulumi_lws.planning.times import Step, WayTimes, minutes

_WIDTH = 980
_MARGIN = 24
_CELL = 24
_GAP = 3
_STEP = _CELL + _GAP
_BETWEEN = 12
_LABEL = 130
_BAR_END = 110
_WAY = 400
"""Width of the bar of the slowest way of the weights."""
_COLOURS = 6

_STYLE = """
text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 12px;
  fill: #1f2328; }
.title { font-size: 18px; font-weight: bold; } .name { font-weight: bold; } .quiet { fill: #59636e; }
.good { fill: #116329; } .bad { fill: #c62828; } .warn { fill: #8a5a00; }
.page { fill: #ffffff; stroke: #d1d9e0; } .box { fill: none; stroke: #afb8c1; } .free { fill: #e6eaef; }
.limit { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 3 2; } .on { fill: #ffffff; font-weight: bold; }
.c0 { fill: #0969da; } .c1 { fill: #8250df; } .c2 { fill: #1a7f37; } .c3 { fill: #bc4c00; } .c4 { fill: #bf3989; }
.c5 { fill: #57606a; } .soft { fill-opacity: 0.55; } .softer { fill-opacity: 0.28; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .quiet { fill: #9198a1; } .good { fill: #3fb950; } .bad { fill: #ff7b72; }
  .warn { fill: #d29922; } .page { fill: #0d1117; stroke: #3d444d; } .box { stroke: #656c76; } .free { fill: #262c36; }
  .limit { stroke: #e6edf3; } .on { fill: #ffffff; }
}
"""


def render(plan: Plan) -> str:
    """Draw the plan."""
    canvas = Canvas(_WIDTH, _MARGIN)
    canvas.line(f"{visible(plan.stack)} {verdict(plan)}", "title " + ("good" if plan.is_applicable else "bad"))
    canvas.paragraph(headline(plan), "quiet")
    marked = marks(plan, _COLOURS)
    for pool in plan.pools:
        canvas.skip(14)
        canvas.labelled(pool.name, pool_line(plan, pool))
        _draw_pool(canvas, plan, pool, marked)
    pools = {pool.name: pool for pool in plan.pools}
    # One scale, so that starts of different roles compare.
    longest = max((minutes(role.times.first) for role in plan.roles if role.times), default=1)
    for role in plan.roles:
        _draw_role(canvas, role, pools[role.pool], marked[role.name, role.role], longest)
    _draw_notes(canvas, plan)
    return canvas.document(f"{visible(plan.stack)} {verdict(plan)}: {headline(plan)}", _STYLE)


def _draw_pool(canvas: Canvas, plan: Plan, pool: Pool, marked: Mapping[tuple[str, str], Mark]) -> None:
    """Draw islands, or the nodes of a plain pool, with the GPUs of each pod in one piece."""
    per_box = pool.nodes_per_island
    boxes = pool.nodes // per_box
    drawn = list(range(boxes))
    if boxes > MOST_DRAWN:
        drawn = sorted({pod.node // per_box for _, _, pod in plan.pods(pool.name)})
    width, height = pool.gpus_per_node * _STEP - _GAP + 20, per_box * _STEP + 32
    per_row = max((_WIDTH - 2 * _MARGIN + _BETWEEN) // (width + _BETWEEN), 1)
    top = canvas.y + 4
    corners: dict[int, tuple[int, float]] = {}
    for place, box in enumerate(drawn):
        x, y = _MARGIN + place % per_row * (width + _BETWEEN), top + place // per_row * (height + _BETWEEN)
        canvas.rectangle(x, y, width, height, "box", radius=6)
        canvas.text(x + 10, y + 17, pool.island_of(box * per_box) or f"node {box}", "quiet")
        for row in range(per_box):
            corners[box * per_box + row] = x + 10, y + 26 + row * _STEP
            for gpu in range(pool.gpus_per_node):
                canvas.rectangle(x + 10 + gpu * _STEP, y + 26 + row * _STEP, _CELL, _CELL, "free", radius=3)
    for role, group, pod in plan.pods(pool.name):
        left, y = corners[pod.node]
        mark = marked[role.name, role.role]
        label = f"{mark.letter}{group.index}"
        _draw_pod(canvas, (left + pod.first_gpu * _STEP, y), pod.gpus, label, f"c{mark.colour}")
    canvas.y = top + -(-len(drawn) // per_row) * (height + _BETWEEN)
    if left_out := boxes - len(drawn):
        canvas.line(f"and {counted(left_out, 'free island' if pool.islands else 'free node')}", "quiet")


def _draw_pod(canvas: Canvas, corner: tuple[float, float], gpus: int, label: str, colour: str) -> None:
    x, y = corner
    canvas.rectangle(x, y, gpus * _STEP - _GAP, _CELL, colour, radius=3)
    for gpu in range(1, gpus):
        canvas.rectangle(x + gpu * _STEP - _GAP / 2 - 0.5, y + 4, 1, _CELL - 8, "page softer")
    canvas.text(x + _CELL / 2, y + 16, label, "on", anchor="middle")


def _draw_role(canvas: Canvas, role: RolePlan, pool: Pool, mark: Mark, longest: int) -> None:
    colour = f"c{mark.colour}"
    canvas.skip(16)
    canvas.rectangle(_MARGIN, canvas.y - 1, _CELL, 18, colour, radius=3)
    canvas.text(_MARGIN + _CELL / 2, canvas.y + 12, mark.letter, "on", anchor="middle")
    name = role.name if role.role == "serve" else f"{role.name} {role.role}"
    canvas.labelled(name, role_line(role, pool), indent=_CELL + 10)
    canvas.skip(5)
    if role.memory:
        _draw_memory(canvas, role.memory, colour)
        canvas.labelled("KV cache", context_line(role.memory), indent=_CELL + 10, column=_LABEL, style="quiet")
    else:
        canvas.labelled("GPU memory", "not checked", indent=_CELL + 10, column=_LABEL, style="quiet")
    if role.times:
        _draw_steps(canvas, "first start", role.times.first, longest, colour)
        _draw_steps(canvas, "next copy", role.times.next, longest, colour)
        _draw_ways(canvas, role.times.ways, colour)


def _draw_memory(canvas: Canvas, memory: GpuMemory, colour: str) -> None:
    x, end = _MARGIN + _CELL + 10 + _LABEL, _WIDTH - _MARGIN - _BAR_END
    whole = max(memory.gpu, memory.total)
    canvas.text(_MARGIN + _CELL + 10, canvas.y + 13, "GPU memory", "quiet")
    canvas.rectangle(x, canvas.y, end - x, 18, "free", radius=3)
    at = float(x)
    for name, amount, style in (
        ("weights", memory.weights, colour),
        ("KV cache", memory.kv, f"{colour} soft"),
        ("reserve", memory.reserve, f"{colour} softer"),
    ):
        width = max(amount, 0) / whole * (end - x)
        canvas.rectangle(at, canvas.y, width, 18, style)
        canvas.fitting_text(
            at, width, canvas.y + 13, (f"{name} {amount:.1f}", f"{amount:.1f}"), "on" if name == "weights" else ""
        )
        at += width
    limit = x + memory.limit / whole * (end - x)
    canvas.vertical(limit, canvas.y - 3, canvas.y + 21, "limit")
    canvas.text(end + 8, canvas.y + 13, f"{memory.limit:.1f}/{memory.gpu:.1f} GiB", "quiet")
    canvas.skip(24)


def _draw_steps(canvas: Canvas, label: str, steps: tuple[Step, ...], longest: int, colour: str) -> None:
    x, end = _MARGIN + _CELL + 10 + _LABEL, _WIDTH - _MARGIN - _BAR_END
    canvas.text(_MARGIN + _CELL + 10, canvas.y + 12, label, "quiet")
    at = float(x)
    for number, (step, shown) in enumerate(zip(steps, step_minutes(steps), strict=True)):
        width = step.minutes / longest * (end - x)
        canvas.rectangle(at, canvas.y, max(width - 2, 0), 16, f"{colour} {('soft', 'softer')[number % 2]}", radius=2)
        canvas.fitting_text(at, width - 2, canvas.y + 12, (f"{step.name} {shown}", shown), "")
        at += width
    canvas.text(end + 8, canvas.y + 12, f"about {minutes(steps)} min", "quiet")
    canvas.skip(22)


def _draw_ways(canvas: Canvas, ways: tuple[WayTimes, ...], colour: str) -> None:
    """Draw how long the weights would take by each way, the one in use in full colour."""
    x, longest = _MARGIN + _CELL + 10 + _LABEL, max(times.load for times in ways)
    canvas.text(_MARGIN + _CELL + 10, canvas.y + 10, "weights by", "quiet")
    for times in ways:
        width = times.load / max(longest, 1) * _WAY
        canvas.rectangle(x, canvas.y, width, 12, colour if times.in_use else f"{colour} softer", radius=2)
        style = "name" if times.in_use else "quiet"
        canvas.text(x + width + 8, canvas.y + 10, f"{WAYS[times.way]} {times.load} min", style)
        canvas.skip(16)


def _draw_notes(canvas: Canvas, plan: Plan) -> None:
    canvas.skip(14)
    for room in plan.headroom:
        canvas.labelled(
            "rollout", f"on {room.pool} {needed_on_top(room)}; {room.available_gpus} are free", column=_LABEL
        )
    for quota in plan.quotas:
        canvas.labelled("quota", f"{quota.used_vcpus:,} vCPUs of {quota.name} ({quota.code})", column=_LABEL)
    for risk in plan.risks:
        canvas.labelled("risk", visible(f"{risk.subject}: {risk.what}"), column=_LABEL, style="warn")
    for problem in plan.problems:
        style = "bad" if problem.severity == "error" else "warn"
        canvas.labelled(str(problem.severity), visible(str(problem)), column=_LABEL, style=style)
