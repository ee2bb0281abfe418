"""The pages of the rules: an index, and one page for each rule with a sample that it takes and one that it refuses."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from difflib import ndiff
from itertools import product
from typing import Any

import yaml

from lab.markdown import block, table
from lab.rule_samples import Sample, samples
from pulumi_lws.facts.labels import EXEMPT_PREFIX
from pulumi_lws.rules.levels import Preset, level_of
from pulumi_lws.rules.rule import RegisteredObject, Rule, Target
from pulumi_lws.rules.values import Unknown

_INDEX = """\
# Rules

What `lws check` and the policy pack hold objects to, beside the schemas of the API server. Generated from
`pulumi_lws/rules/` by `make docs`. Each rule has a page: why, the fix, levels, parameters, how to exempt, and samples.

An *error* would be refused, hang or break a running deployment; a *warning* works at a price. A *choice* is not forced
by LWS or Kubernetes but made by this library: `lws check` and the policy pack hold objects to it, components do not.
Rules marked *programs only* judge how a Pulumi program registers objects; `lws check` leaves them out.

{rules}

## Parameters

Set in the [configuration](policies.md#configuration) of the policy pack.

{parameters}
"""

_PAGE = """\
# {rule.name}

{title}

**Why.** {why}

**Fix.** {fix}

{facts}

{enforced}
{parameters}
## Exempt

{exempt}

## Taken

{allowed}

## Refused

{denied}
{references}"""

_REASON = "2026-12-31 why it has to stay as it is"
_NOT_ANNOTATED = ("", "helm.sh/Release")
"""Kinds without annotations: what is no object of Kubernetes, and a Helm release."""


class _Dumper(yaml.SafeDumper):
    """Writes equal parts out each time, whole numbers whole, and what is not known before the update in words."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the base class names it
        return True


_Dumper.add_representer(tuple, lambda dumper, value: dumper.represent_list(value))
_Dumper.add_representer(
    float, lambda dumper, value: dumper.represent_data(int(value) if value == value // 1 else str(value))
)
_Dumper.add_representer(Unknown, lambda dumper, _: dumper.represent_str("<not known before the update>"))


def index(rules: Iterable[Rule]) -> str:
    """Return the page of all rules."""
    rules = tuple(rules)
    return _INDEX.format(
        rules=table(
            ("rule", "what must hold", "severity"),
            ((f"[{rule.name}](rules/{rule.name}.md)", _prose(rule.title), _severity(rule)) for rule in rules),
        ),
        parameters=table(
            ("rule", "parameter", "meaning", "default"),
            ((f"`{rule.name}`", *parameter) for rule in rules for parameter in _parameters(rule)),
        ),
    )


def page(rule: Rule) -> str:
    """Return the page of one rule."""
    parameters = table(("parameter", "meaning", "default"), _parameters(rule))
    references = dict.fromkeys(re.findall(r"https://[^\s)]+[^\s).,;]", rule.why))
    denied, allowed = _most_alike(rule)
    return _PAGE.format(
        rule=rule,
        title=_prose(rule.title),
        why=_prose(rule.why),
        fix=_prose(rule.fix),
        facts=table(
            ("severity", "since", *(f"in `{preset}`" for preset in Preset)),
            [(_severity(rule), rule.since, *(level_of(rule.severity, preset) for preset in Preset))],
        ),
        enforced=_enforced(rule),
        parameters=f"\n## Parameters\n\n{parameters}\n" if rule.parameters else "",
        exempt=_exempt(rule, denied.subject),
        allowed=_shown(rule, allowed),
        denied="\n\n".join([_shown(rule, denied), "It is told:", *map(block, denied.problems)]),
        references="\n## References\n\n" + "".join(f"- <{each}>\n" for each in references) if references else "",
    )


def _severity(rule: Rule) -> str:
    marks = [mark for mark, holds in (("choice", rule.house), ("programs only", rule.of_programs)) if holds]
    return ", ".join([rule.severity, *marks])


def _parameters(rule: Rule) -> Iterator[tuple[str, str, str]]:
    for name, parameter in rule.parameters.items():
        default = "none" if parameter.default in (None, (), []) else f"`{json.dumps(parameter.default)}`"
        yield f"`{name}`", str(parameter.schema.get("description", "")), default


def _enforced(rule: Rule) -> str:
    if rule.of_programs:
        return "The policy pack judges it; files do not tell."
    if rule.house:
        return "The policy pack and `lws check` judge it. Components of this library leave it to them."
    if rule.looks_around:
        return "The policy pack and `lws check` judge it, with all objects of the same program or run in view."
    return "The policy pack and `lws check` judge it, and components of this library refuse it, or warn, before."


def _exempt(rule: Rule, subject: RegisteredObject) -> str:
    if subject.kind not in _NOT_ANNOTATED:
        annotation = {"metadata": {"annotations": {f"{EXEMPT_PREFIX}{rule.name}": _REASON}}}
        return "\n\n".join(["On the object; the date may be left out:", block(_yaml(annotation))])
    exemption = {"rules": [rule.name], "resources": [f"urn:*::{subject.type}::NAME"], "reason": "why it has to stay"}
    return "\n\n".join(
        [
            "It has no annotations, so in the [configuration](../policies.md#exemptions) of the pack:",
            block(json.dumps({"pack": {"exemptions": [exemption]}}, indent=2)),
        ]
    )


def _prose(text: str) -> str:
    """Return text of which nothing is taken for HTML."""
    return text.replace("<", "&lt;")


def _most_alike(rule: Rule) -> tuple[Sample, Sample]:
    """Return a sample that is refused and one that is taken: what differs between them is, mostly, the fix.

    Those of today's cluster and defaults come first, then those with the fewest differing lines, then the shortest.
    """

    def unlike(pair: tuple[Sample, Sample]) -> tuple[bool, bool, bool, int, int]:
        denied, allowed = (_shown(rule, sample) for sample in pair)
        differing = sum(line[0] in "+-" for line in ndiff(denied.splitlines(), allowed.splitlines()))
        special = pair[0].target != Target() or bool(pair[0].values)
        kinds = [(sample.subject.type, sample.target, sample.values) for sample in pair]
        return special, kinds[0] != kinds[1], not differing, differing, len(denied)

    return min(product(samples(rule, "denied"), samples(rule, "allowed")), key=unlike)


def _shown(rule: Rule, sample: Sample) -> str:
    said = [f"{name} {'.'.join(map(str, version))}" for name, version in _versions(sample.target)]
    said += [f"{gang} schedules groups" for gang in sorted(sample.target.gangs)]
    said += [f"the parameter `{name}` is `{json.dumps(value)}`" for name, value in sample.values.items()]
    # How a program registers an object is what some rules are about.
    manifests = [] if rule.of_programs else sample.manifests
    together = block("---\n".join(map(_yaml, manifests or map(_as_registered, sample.together))))
    return f"Where {', and '.join(said)}:\n\n{together}" if said else together


def _versions(target: Target) -> Iterator[tuple[str, tuple[int, int]]]:
    default = Target()
    for name, version, usual in (
        ("LWS is", target.lws, default.lws),
        ("Kubernetes is", target.kubernetes, default.kubernetes),
    ):
        if version != usual:
            yield name, version


def _as_registered(subject: RegisteredObject) -> Mapping[str, Any]:
    """Return what a program says of a resource, without what it leaves to the engine."""
    plain = RegisteredObject("", {})
    said = {each.name: getattr(subject, each.name) for each in fields(subject)}
    return {name: value for name, value in said.items() if value != getattr(plain, name)}


def _yaml(value: Mapping[str, Any]) -> str:
    return yaml.dump(value, sort_keys=False, width=110, Dumper=_Dumper)
