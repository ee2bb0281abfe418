"""The report on a change: one preview, compared with what runs, or with the preview of the base."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pulumi_lws.facts.prices import PRICES, Price
from pulumi_lws.reporting.alarms import Alarm, Upgrade, alarms, upgrade
from pulumi_lws.reporting.capacity import Capacity, capacity_of
from pulumi_lws.reporting.models import Fate, ModelChange, model_changes
from pulumi_lws.reporting.pools import pools_on_both_sides
from pulumi_lws.reporting.preview import Diagnostic, Operation, PolicyResult, Preview, Step
from pulumi_lws.reporting.workloads import workloads_of


@dataclass(frozen=True)
class Outcome:
    """What a change comes to: what only two whole stacks can tell, before and after it.

    Attributes:
        undone: Resources that only the base would change.
        models: What happens to each workload, the worst first.
        upgrade: Another version of LWS.
        before: What workloads take before the change.
        after: What they take after it.
    """

    undone: int
    models: tuple[ModelChange, ...]
    upgrade: Upgrade | None
    before: Capacity
    after: Capacity


@dataclass(frozen=True)
class Report:
    """What a change does.

    Attributes:
        stack: Project and stack.
        steps: What is created, updated, replaced and deleted, by this change.
        unchanged: Resources that stay as they are.
        pending: Resources that the base changes just so too: not by this change.
        alarms: What else a reviewer must not miss.
        outcome: What it comes to; None where that is not known, since the preview ended early.
        policies: Policies that do not hold; None where nothing tells.
        packs: Policy packs that ran.
        diagnostics: Errors and warnings of the preview.
        failed: Whether the preview failed.
        missing: Unchanged resources that the preview leaves out, so that totals lack them.
        prices: Prices that the totals are made from.
        has_base: Whether the change is compared with the base.
        base_ended_early: Whether there is a base that it cannot be compared with, since its preview ended early.
    """

    stack: str
    steps: tuple[Step, ...]
    unchanged: int
    pending: int
    alarms: tuple[Alarm, ...]
    outcome: Outcome | None
    policies: tuple[PolicyResult, ...] | None
    packs: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    failed: bool
    missing: int
    prices: Mapping[str, Price]
    has_base: bool
    base_ended_early: bool = False

    @property
    def mandatory(self) -> tuple[PolicyResult, ...]:
        """Mandatory policies that do not hold."""
        return tuple(result for result in self.policies or () if result.mandatory)

    @property
    def can_be_applied(self) -> bool:
        """Whether an update would start at all."""
        return not (self.failed or self.mandatory)

    def counts(self) -> dict[Operation, int]:
        """Return how many resources each operation has, the worst operation first."""
        found = {operation: sum(step.operation is operation for step in self.steps) for operation in Operation}
        return {operation: count for operation, count in found.items() if count}


class OtherStackError(Exception):
    """The base is a preview of another stack."""


def report(preview: Preview, base: Preview | None = None, prices: Mapping[str, Price] = PRICES) -> Report:
    """Say what a change does.

    Args:
        preview: The preview of the change.
        base: The preview of what it is merged into, against the same state. Without one, or where it ended early, the
            change is compared with what runs.
        prices: Prices by instance type.

    Raises:
        OtherStackError: The two are previews of different stacks.
    """
    if base is not None and base.stack and preview.stack and base.stack != preview.stack:
        raise OtherStackError(f"the base is a preview of {base.stack}, the change one of {preview.stack}")
    base_ended_early = base is not None and not base.saw_all
    if base_ended_early:
        base = None
    changed, waiting = _changes(preview), _changes(base) if base else {}
    shared = {urn for urn, step in changed.items() if urn in waiting and _is_same_change(step, waiting[urn])}
    steps = tuple(step for urn, step in changed.items() if urn not in shared)
    return Report(
        stack=preview.stack,
        steps=steps,
        unchanged=sum(step.operation is Operation.SAME for step in preview.steps) + preview.missing,
        pending=len(shared),
        alarms=tuple(alarms(steps)),
        outcome=_outcome(preview, base, steps, prices) if preview.saw_all else None,
        policies=preview.policies,
        packs=preview.packs,
        diagnostics=preview.diagnostics,
        failed=preview.failed,
        missing=preview.missing,
        prices=prices,
        has_base=base is not None,
        base_ended_early=base_ended_early,
    )


def _outcome(preview: Preview, base: Preview | None, changed: Sequence[Step], prices: Mapping[str, Price]) -> Outcome:
    before, after = base.after if base else preview.before, preview.after
    waiting = _changes(base) if base else {}
    replaced = {step.resource.urn for step in changed if step.operation is Operation.REPLACE}
    workloads = workloads_of(before), workloads_of(after)
    pools = pools_on_both_sides(before, after)
    old, new = (capacity_of(each.values(), own, prices) for each, own in zip(workloads, pools, strict=True))
    return Outcome(
        undone=len(waiting.keys() - _changes(preview).keys()),
        models=tuple(model_changes(*workloads, _without(replaced, waiting))),
        upgrade=upgrade(before, after),
        before=old,
        after=new,
    )


def _changes(preview: Preview) -> dict[str, Step]:
    return {step.resource.urn: step for step in preview.steps if step.operation is not Operation.SAME}


def with_policies(found: Report, policies: tuple[PolicyResult, ...], packs: tuple[str, ...]) -> Report:
    """Return the report with what policies found elsewhere."""
    return replace(found, policies=policies, packs=packs)


def changed_models(found: Report) -> list[ModelChange]:
    """Return the models to which something is known to happen."""
    return [model for model in (found.outcome.models if found.outcome else ()) if model.fate is not Fate.UNCHANGED]


def without_wrappers(steps: Iterable[Step]) -> list[Step]:
    """Return the steps without those of components that only wrap an object of their kind and name, done likewise."""
    steps = list(steps)
    objects = {_row(step, step.resource.parent) for step in steps if step.resource.kind}
    return [step for step in steps if _row(step, step.resource.urn) not in objects]


def _row(step: Step, component: str) -> tuple[str, ...]:
    """Return what a row shows of a step, and the component that it stands for."""
    return component, step.operation, step.resource.short_type, step.resource.own_name


def _is_same_change(step: Step, other: Step) -> bool:
    same_end = (step.new.inputs if step.new else None) == (other.new.inputs if other.new else None)
    return step.operation is other.operation and same_end


def _without(urns: Collection[str], waiting: Mapping[str, Step]) -> set[str]:
    """Leave out what the base makes anew just as well."""
    return {urn for urn in urns if urn not in waiting or waiting[urn].operation is not Operation.REPLACE}
