"""What a reviewer should know first, in sentences, the worst first."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from pulumi_lws.facts.lws_releases import UPGRADE_NOTES
from pulumi_lws.reporting.alarms import Alarm, Upgrade
from pulumi_lws.reporting.formats.wording import code, counted, listed
from pulumi_lws.reporting.models import Fate, ModelChange
from pulumi_lws.reporting.pools import Pool
from pulumi_lws.reporting.preview import Operation
from pulumi_lws.reporting.report import Outcome, Report

_PAST = {Operation.DELETE: "deleted", Operation.REPLACE: "replaced", Operation.UPDATE: "updated"}


class Level(StrEnum):
    """How much a finding asks for, the most first."""

    STOP = "stop"
    CARE = "care"
    FINE = "fine"


@dataclass(frozen=True)
class Finding:
    """Something that a reviewer should know.

    Attributes:
        level: How much it asks for.
        text: A sentence, with names in backquotes.
        why: What of it is changed, in the same form; empty where the sentence says it.
    """

    level: Level
    text: str
    why: str = ""


def findings(report: Report) -> list[Finding]:
    """Return what a reviewer should know, the worst first; never nothing."""
    found = list(_all(report))
    order = list(Level)
    return sorted(found, key=lambda finding: order.index(finding.level)) or [_nothing(report)]


def _all(report: Report) -> Iterator[Finding]:
    if report.mandatory:
        names = listed(sorted({result.policy for result in report.mandatory}))
        yield Finding(Level.STOP, f"Mandatory policies do not hold, so nothing is applied: {names}")
    if report.failed and not (report.mandatory and report.outcome):
        yield Finding(Level.STOP, "The preview failed, so nothing is applied")
    for alarm in sorted(report.alarms, key=lambda alarm: not alarm.stops_everything):
        yield Finding(Level.STOP, _alarm(alarm))
    if report.outcome:
        for change in report.outcome.models:
            yield from _model(change)
        if report.outcome.upgrade:
            yield from _upgrade(report.outcome.upgrade)
        yield from _pools(report.outcome)


def _nothing(report: Report) -> Finding:
    if not report.steps:
        said = "This change adds nothing to what the base changes" if report.pending else "Nothing changes"
        return Finding(Level.FINE, said)
    count = len(report.steps)
    others = "1 other resource changes" if count == 1 else f"{count} other resources change"
    return Finding(Level.FINE, f"No model restarts; {others}")


def _alarm(alarm: Alarm) -> str:
    one = len(alarm.names) == 1
    names, done = listed(alarm.names), _PAST[alarm.operation]
    if one:
        return f"The {alarm.what} {names} is {done}: {alarm.loss}"
    return f"{len(alarm.names)} {alarm.what}s are {done}: {alarm.loss.replace('its ', 'their ')} ({names})"


def _model(change: ModelChange) -> Iterator[Finding]:
    old, new, workload = change.old, change.new, change.workload
    name = code(workload.name)
    why = listed(change.reasons)
    within = "" if change.minutes is None else f" for up to {change.minutes} min"
    match change.fate:
        case Fate.REMOVED:
            yield Finding(Level.STOP, f"{name} is removed: {_size(workload.replicas, workload.copy, workload.gpus)}")
        case Fate.REPLACED:
            yield Finding(Level.STOP, f"{name} is deleted and made anew: down{within or ' until it has started'}", why)
        case Fate.RESTARTS if change.is_outage:
            yield Finding(Level.STOP, f"{name} restarts and is down{within or ' until it has started'}", why)
        case Fate.RESTARTS if change.missing:
            copies = counted(change.running, workload.copy)
            yield Finding(Level.CARE, f"{name} restarts, {change.missing} of {copies} missing{within}", why)
        case Fate.RESTARTS:
            on_top = counted(max(1, workload.rollout.surge), workload.copy)
            took = "" if change.minutes is None else f", in up to {change.minutes} min"
            text = f"{name} restarts with {on_top} on top: none is missing{took}"
            yield Finding(Level.CARE, text, why)
        case Fate.SCALED if old and new:
            yield _scaled(name, change)
        case Fate.ADDED:
            yield Finding(Level.FINE, f"{name} is added: {_size(workload.replicas, workload.copy, workload.gpus)}")


def _scaled(name: str, change: ModelChange) -> Finding:
    if change.old is None or change.new is None:
        raise AssertionError("only what was there before and after is scaled")
    old, new = change.old, change.new
    if new.replicas == old.replicas:
        most = counted(new.most_replicas, new.copy)
        return Finding(Level.FINE, f"{name} may scale to {most}, not {old.most_replicas}")
    level = Level.FINE if new.replicas > old.replicas else Level.CARE if new.replicas else Level.STOP
    nobody = "" if new.replicas else ": nobody answers"
    return Finding(level, f"{name} scales from {old.replicas} to {counted(new.replicas, new.copy)}{nobody}")


def _upgrade(upgrade: Upgrade) -> Iterator[Finding]:
    if upgrade.is_told:
        yield Finding(Level.CARE, f"Deployments are made for LWS {upgrade.new}, not {upgrade.old}")
    elif upgrade.old is None:
        yield Finding(Level.FINE, f"LWS {upgrade.new} is installed")
    elif upgrade.new is None:
        yield Finding(Level.STOP, f"LWS {upgrade.old} is removed: nothing makes or mends groups any more")
    else:
        yield Finding(Level.CARE, f"LWS goes from {upgrade.old} to {upgrade.new}")
        old, new = _minor(upgrade.old), _minor(upgrade.new)
        if old and new:
            for version, note in UPGRADE_NOTES.items():
                if old < version <= new:
                    yield Finding(Level.STOP, note.removesuffix("."))


def _pools(outcome: Outcome) -> Iterator[Finding]:
    """Yield what changes of pools: the islands of one are one pool."""
    before, after = (_by_name([use.pool for use in capacity.pools]) for capacity in (outcome.before, outcome.after))
    for use in outcome.after.pools:
        if use.pool.most is not None and use.nodes > use.pool.most:
            needed = f"{code(use.pool.name)} needs {counted(use.nodes, 'node')} and may have {use.pool.most}"
            yield Finding(Level.STOP, f"Pool {needed}: some pods stay pending")
    for name, pools in after.items():
        types, most = _types(pools), _most(pools)
        if name not in before and not pools[0].urn:
            continue  # it exists, and something is put on it for the first time
        if name not in before:
            yield Finding(Level.FINE, f"Pool {code(name)} is added: {_up_to(most)} of {types}")
            continue
        if types != _types(before[name]):
            yield Finding(Level.CARE, f"Pool {code(name)} goes from {_types(before[name])} to {types}")
        if most != _most(before[name]):
            yield Finding(Level.FINE, f"Pool {code(name)} may have {_up_to(most)}, not {_most(before[name]) or 'any'}")


def _by_name(pools: list[Pool]) -> dict[str, list[Pool]]:
    found: dict[str, list[Pool]] = {}
    for pool in pools:
        found.setdefault(pool.family, []).append(pool)
    return found


def _types(pools: list[Pool]) -> str:
    return listed(sorted({each for pool in pools for each in pool.instance_types}))


def _most(pools: list[Pool]) -> int | None:
    known = [pool.most for pool in pools if pool.most is not None]
    return sum(known) if len(known) == len(pools) else None


def _up_to(nodes: int | None) -> str:
    return "nodes without limit" if nodes is None else f"up to {counted(nodes, 'node')}"


def _size(replicas: int, copy: str, gpus: int) -> str:
    return f"{counted(replicas, copy)}, {counted(replicas * gpus, 'GPU')}"


def _minor(version: str) -> tuple[int, int] | None:
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else None
