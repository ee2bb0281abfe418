"""The report on a change: one preview, compared with what runs, or with the preview of the base."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from pulumi_lws.facts.prices import PRICES, Price
from pulumi_lws.reporting.alarms import Alarm, Upgrade, alarms, upgrade
from pulumi_lws.reporting.capacity import Capacity, capacity_of
from pulumi_lws.reporting.models import Fate, ModelChange, model_changes
from pulumi_lws.reporting.pools import pools_of
from pulumi_lws.reporting.preview import STACK_TYPE, Diagnostic, Operation, PolicyResult, Preview, Step
from pulumi_lws.reporting.workloads import workloads_of


@dataclass(frozen=True)
class Report:
    """What a change does.

    Attributes:
        stack: Project and stack.
        steps: What is created, updated, replaced and deleted, by this change.
        unchanged: Resources that stay as they are.
        pending: Resources that the base changes just so too: not by this change.
        undone: Resources that only the base would change.
        models: What happens to each workload, the worst first.
        alarms: What else a reviewer must not miss.
        upgrade: Another version of LWS.
        before: What workloads take before the change.
        after: What they take after it.
        policies: Policies that do not hold; None where nothing tells.
        packs: Policy packs that ran.
        diagnostics: Errors and warnings of the preview.
        failed: Whether the preview failed.
        missing: Unchanged resources that the preview leaves out, so that totals lack them.
        prices: Prices that the totals are made from.
        has_base: Whether the change is compared with the base.
    """

    stack: str
    steps: tuple[Step, ...]
    unchanged: int
    pending: int
    undone: int
    models: tuple[ModelChange, ...]
    alarms: tuple[Alarm, ...]
    upgrade: Upgrade | None
    before: Capacity
    after: Capacity
    policies: tuple[PolicyResult, ...] | None
    packs: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    failed: bool
    missing: int
    prices: Mapping[str, Price]
    has_base: bool

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
        base: The preview of what it is merged into, against the same state; None to compare with what runs.
        prices: Prices by instance type.

    Raises:
        OtherStackError: The two are previews of different stacks.
    """
    if base is not None and base.stack and preview.stack and base.stack != preview.stack:
        raise OtherStackError(f"the base is a preview of {base.stack}, the change one of {preview.stack}")
    changed = {step.resource.urn: step for step in preview.steps if step.operation is not Operation.SAME}
    waiting = {step.resource.urn: step for step in base.steps if step.operation is not Operation.SAME} if base else {}
    shared = {urn for urn, step in changed.items() if urn in waiting and _is_same_change(step, waiting[urn])}
    steps = tuple(step for urn, step in changed.items() if urn not in shared and step.resource.type != STACK_TYPE)
    before = base.after if base else preview.before
    replaced = {step.resource.urn for step in steps if step.operation is Operation.REPLACE}
    workloads = workloads_of(before), workloads_of(preview.after)
    return Report(
        stack=preview.stack,
        steps=steps,
        unchanged=sum(step.operation is Operation.SAME for step in preview.steps) + preview.missing,
        pending=len(shared),
        undone=len(waiting.keys() - changed.keys()),
        models=tuple(model_changes(*workloads, _without(replaced, waiting))),
        alarms=tuple(alarms(steps)),
        upgrade=upgrade(before, preview.after),
        before=capacity_of(workloads[0].values(), pools_of(before), prices),
        after=capacity_of(workloads[1].values(), pools_of(preview.after), prices),
        policies=preview.policies,
        packs=preview.packs,
        diagnostics=preview.diagnostics,
        failed=preview.failed,
        missing=preview.missing,
        prices=prices,
        has_base=base is not None,
    )


def with_policies(found: Report, policies: tuple[PolicyResult, ...], packs: tuple[str, ...]) -> Report:
    """Return the report with what policies found elsewhere."""
    return replace(found, policies=policies, packs=packs)


def changed_models(found: Report) -> list[ModelChange]:
    """Return the models to which something happens."""
    return [model for model in found.models if model.fate is not Fate.UNCHANGED]


def _is_same_change(step: Step, other: Step) -> bool:
    same_end = (step.new.inputs if step.new else None) == (other.new.inputs if other.new else None)
    return step.operation is other.operation and same_end


def _without(urns: Collection[str], waiting: Mapping[str, Step]) -> set[str]:
    """Leave out what the base makes anew just as well."""
    return {urn for urn in urns if urn not in waiting or waiting[urn].operation is not Operation.REPLACE}
