"""The report as Markdown: a comment on a pull request that is read on a phone first.

The headline says the worst, the table what it costs; everything else is folded. A report that would be longer than a
forge takes leaves out rows, and says how many.
"""

import re
from collections.abc import Iterator, Mapping

from pulumi_lws.facts.prices import REGION, Price
from pulumi_lws.reporting.capacity import PoolUse
from pulumi_lws.reporting.differences import paths
from pulumi_lws.reporting.findings import Finding, Level, findings
from pulumi_lws.reporting.formats.sections import Section, fitting
from pulumi_lws.reporting.formats.wording import code, counted, delta, dollars, listed, prose
from pulumi_lws.reporting.models import Fate, ModelChange
from pulumi_lws.reporting.preview import Diagnostic, Operation, PolicyResult, Step
from pulumi_lws.reporting.report import Outcome, Report, changed_models, without_wrappers

LONGEST_COMMENT = 65_536
"""Characters that GitHub takes in a comment; GitLab takes a million."""

MARK = "<!-- lws report"
"""How the first line starts, by which a later report finds the comment to write anew."""

_SIGNS = {Level.STOP: "🔴", Level.CARE: "🟡", Level.FINE: "🟢"}
_PAST = {
    Operation.DELETE: "deleted",
    Operation.REPLACE: "replaced",
    Operation.UPDATE: "updated",
    Operation.CREATE: "created",
}
_MOST_FINDINGS = 8
_LONGEST_MESSAGE = 1_500
_LONGEST_PATH = 50


def render(report: Report, longest: int = LONGEST_COMMENT) -> str:
    """Write the report, with at most ``longest`` characters."""
    return fitting(list(_top(report)), [section for section in _sections(report) if section.rows], longest)


def mark(stack: str) -> str:
    """Return the hidden first line of what is said about a stack, by which it is found again."""
    # What no name of a stack has could end the line or the comment.
    return f"{MARK}: {re.sub('[^A-Za-z0-9_./-]', '_', stack)} -->"


def _top(report: Report) -> Iterator[str]:
    first, *others = findings(report)
    yield mark(report.stack)
    yield f"### {_SIGNS[first.level]} {first.text}"
    yield ""
    if first.why:
        yield f"Changed: {first.why}"
        yield ""
    yield _cost(report.outcome)
    if others:
        yield ""
        yield from (_bullet(finding) for finding in others[:_MOST_FINDINGS])
        if len(others) > _MOST_FINDINGS:
            yield f"- … and {len(others) - _MOST_FINDINGS} more"
    yield ""
    if report.outcome:
        yield from _capacity(report.outcome, "base" if report.has_base else "now")
    yield f"{code(report.stack)}: {_counts(report)}. {_hold(report)}".rstrip()
    yield from (f"\n⚠️ {note}" for note in _warnings(report))


def _bullet(finding: Finding) -> str:
    return f"- {_SIGNS[finding.level]} {finding.text}{f': {finding.why}' if finding.why else ''}"


def _cost(outcome: Outcome | None) -> str:
    if outcome is None:
        return "**Models, GPUs, nodes and cost: not known, since the preview ended early**"
    old, new = outcome.before, outcome.after
    if (old.gpus, old.nodes, old.dollars) == (new.gpus, new.nodes, new.dollars):
        return f"**{counted(new.gpus, 'GPU')}, {counted(new.nodes, 'node')}, {dollars(new.dollars)}/h: as before**"
    money = delta(old.dollars, new.dollars, "$")
    return f"**{delta(old.gpus, new.gpus, 'GPU')} · {delta(old.nodes, new.nodes, 'node')} · {money}/h**"


def _capacity(outcome: Outcome, before_is: str) -> Iterator[str]:
    """Yield the table of what changes in size; nothing where nothing does."""
    old, new = outcome.before, outcome.after
    rows: list[tuple[str, float | None, float | None, str]] = [
        ("GPUs", old.gpus, new.gpus, ""),
        ("GPUs, scaled out", old.most_gpus, new.most_gpus, ""),
        ("EFA interfaces", old.efa, new.efa, ""),
        ("GPU nodes", old.nodes, new.nodes, ""),
        ("GPU nodes, pools full", old.most_nodes, new.most_nodes, ""),
        ("cost per hour", old.dollars, new.dollars, "$"),
        ("cost, pools full", old.most_dollars, new.most_dollars, "$"),
    ]
    if (old.most_gpus, new.most_gpus) == (old.gpus, new.gpus):
        rows.pop(1)
    changed = [row for row in rows if row[1] != row[2]]
    if not changed:
        return
    yield f"| | {before_is} | after | change |"
    yield "|---|--:|--:|--:|"
    for name, before, after, unit in changed:
        change = "" if before is None or after is None else delta(before, after, unit)
        yield f"| {name} | {_amount(before, unit)} | {_amount(after, unit)} | {change} |"
    yield ""


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "no limit" if not unit else "not known"
    return dollars(value) if unit else f"{value:,.0f}"


def _counts(report: Report) -> str:
    parts = [f"{count} {_PAST[operation]}" for operation, count in report.counts().items()]
    parts.append(f"{report.unchanged} unchanged")
    if report.pending:
        parts.append(f"{report.pending} pending on the base already")
    if report.outcome and report.outcome.undone:
        parts.append(f"{report.outcome.undone} pending on the base and not here")
    counts = ", ".join(parts)
    return counts if report.outcome else f"{counts}, as far as the preview came"


def _warnings(report: Report) -> Iterator[str]:
    """Yield what makes the numbers above wrong."""
    if report.base_ended_early:
        yield "The preview of the base ended early, so this is compared with what runs now."
    if report.outcome is None:
        return
    if report.missing:
        left = counted(report.missing, "unchanged resource")
        yield f"The preview leaves out {left}, so the totals lack them: run `pulumi preview --json --show-sames`."
    for capacity, when in ((report.outcome.before, "Before"), (report.outcome.after, "After")):
        if capacity.unpriced:
            yield f"{when} the change {listed(capacity.unpriced)} runs and has no price: the cost lacks it (`--price`)."
    if report.outcome.after.homeless:
        yield f"No pool here takes {listed(report.outcome.after.homeless)}: nodes and cost lack it."


def _sections(report: Report) -> Iterator[Section]:
    yield _problems(report.diagnostics)
    yield _policies(report)
    yield _models(changed_models(report))
    if report.outcome:
        yield _pools(report.outcome, report.prices)
    yield _changes(report)


def _problems(diagnostics: tuple[Diagnostic, ...]) -> Section:
    errors = sum(each.is_error for each in diagnostics)
    parts = [counted(errors, "error")] if errors else []
    if len(diagnostics) > errors:
        parts.append(counted(len(diagnostics) - errors, "warning"))
    return Section(f"Problems: {', '.join(parts)}", tuple(map(_problem, diagnostics)), is_open=errors > 0)


def _problem(each: Diagnostic) -> str:
    where = f" {code(_name_of(each.urn))}" if each.urn else ""
    message = _cut(each.message)
    fence = "```"
    while fence in message:
        fence += "`"
    lines = "\n".join(f"  {line}" for line in (fence, *message.splitlines(), fence))
    return f"- **{'error' if each.is_error else 'warning'}**{where}\n\n{lines}\n"


def _hold(report: Report) -> str:
    """Say of policies what needs no list."""
    if report.policies is None:
        return "What policies found is not in this preview (`lws report --help`: `--policies`)."
    if report.outcome is None:
        return f"Whether {'the other' if report.policies else 'all'} policies hold is not known."
    if report.policies:
        return ""
    return f"All policies hold ({listed(report.packs)})." if report.packs else "No policy pack ran."


def _policies(report: Report) -> Section:
    mandatory = len(report.mandatory)
    parts = [f"{mandatory} mandatory"] if mandatory else []
    if len(report.policies or ()) > mandatory:
        parts.append(f"{len(report.policies or ()) - mandatory} advisory")
    rows = tuple(map(_policy, report.policies or ()))
    return Section(f"Policies that do not hold: {', '.join(parts)}", rows, is_open=mandatory > 0)


def _policy(result: PolicyResult) -> str:
    level = "🔴 mandatory" if result.mandatory else "🟡 advisory"
    where = f" {code(_name_of(result.urn))}" if result.urn else ""
    return f"- {level} {code(result.policy)}{where}: {prose(_cut(result.message))}"


def _models(models: list[ModelChange]) -> Section:
    head = ("| model | what | copies | GPUs | missing | for up to | changed |", "|---|---|--:|--:|--:|--:|---|")
    return Section(f"Models: {counted(len(models), 'change')}", tuple(map(_model, models)), head)


def _model(change: ModelChange) -> str:
    old, new, workload = change.old, change.new, change.workload
    copies = _from_to(old.replicas if old else 0, new.replicas if new else 0)
    gpus = _from_to(old.replicas * old.gpus if old else 0, new.replicas * new.gpus if new else 0)
    missing = f"{change.missing} of {change.running}" if change.running and change.fate is not Fate.SCALED else ""
    time = f"{change.minutes} min" if change.minutes is not None and change.running else ""
    why = ", ".join(map(code, change.reasons[:6]))
    return f"| {code(workload.name)} | {change.fate} | {copies} | {gpus} | {missing} | {time} | {why} |"


def _pools(outcome: Outcome, prices: Mapping[str, Price]) -> Section:
    rows: dict[str, tuple[PoolUse | None, PoolUse | None]] = {}
    for index, capacity in enumerate((outcome.before, outcome.after)):
        for use in capacity.pools:
            key = use.pool.urn or use.pool.name
            old, new = rows.get(key, (None, None))
            rows[key] = (use, new) if index == 0 else (old, use)
    head = ("| pool | nodes run | at most | of | bought | each/h |", "|---|--:|--:|---|---|--:|")
    return Section(
        "Nodes and cost", tuple(_pool(*pair) for pair in rows.values()), head, tuple(_basis(outcome, prices))
    )


def _pool(old: PoolUse | None, new: PoolUse | None) -> str:
    use = new or old
    if use is None:
        raise AssertionError("a row is about a pool")
    nodes = _from_to(old.nodes if old else 0, new.nodes if new else 0)
    most = _from_to(_most(old), _most(new))
    types = " → ".join(dict.fromkeys(listed(each.pool.instance_types) for each in (old, new) if each))
    return f"| {code(use.pool.name)} | {nodes} | {most} | {types} | {code(use.pool.bought)} | {dollars(use.price)} |"


def _most(use: PoolUse | None) -> str:
    if use is None:
        return "0"
    return "no limit" if use.pool.most is None else str(use.pool.most)


def _basis(outcome: Outcome, prices: Mapping[str, Price]) -> Iterator[str]:
    """Yield what the numbers are made from."""
    used = {
        each
        for capacity in (outcome.before, outcome.after)
        for use in capacity.pools
        for each in use.pool.instance_types
    }
    for name in sorted(used & prices.keys()):
        price = prices[name]
        day = f", {price.checked}" if price.checked else ""
        yield f"- {code(name)} {dollars(price.dollars_per_hour)}/h: {prose(price.source)}{day}"
    yield (
        f"- Cost is that of GPU nodes that run all the time, at these prices (ours: on demand in {REGION}), spot and"
        " reserved ones too. Not counted: other nodes, disks, traffic, the fee of EKS Auto Mode."
    )
    yield "- Nodes that run: what workloads need with autoscalers at their least, and static pools."
    yield "- A restart takes at most the start budget for each step of the rollout; a usual start is faster."


def _changes(report: Report) -> Section:
    order = list(Operation)
    # The engine's own order differs from run to run.
    steps = sorted(
        without_wrappers(report.steps),
        key=lambda each: (order.index(each.operation), each.resource.type, each.resource.urn),
    )
    head = ("| | kind | name | what |", "|---|---|---|---|")
    foot = ("- A component of the same kind and name as its object stands in one row with it.",)
    return Section(
        f"All changes: {counted(len(report.steps), 'resource')}",
        tuple(map(_step, steps)),
        head,
        foot if len(steps) < len(report.steps) else (),
    )


def _step(step: Step) -> str:
    resource = step.resource
    differing = paths(step.old.inputs, step.new.inputs) if step.old and step.new else []
    what = listed([_tail(path) for path in differing])
    return f"| {_PAST[step.operation]} | {code(resource.short_type)} | {code(resource.own_name)} | {what} |"


def _tail(path: str) -> str:
    return path if len(path) <= _LONGEST_PATH else f"…{path[1 - _LONGEST_PATH :]}"


def _from_to(old: object, new: object) -> str:
    return str(new) if old == new else f"{old} → {new}"


def _name_of(urn: str) -> str:
    return urn.rpartition("::")[2]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"
