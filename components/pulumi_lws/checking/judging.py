"""Holding objects that were read to the schemas of the API server and to the rules."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pulumi_lws.checking.located import written_at
from pulumi_lws.checking.metadata import label_problems, name_problems
from pulumi_lws.checking.own import MODELS, is_taken, problems_of_own
from pulumi_lws.checking.reading import read_objects
from pulumi_lws.checking.report import SCHEMA_RULE, CheckedObject, LeftOut, ReadObject, Report, Unreadable
from pulumi_lws.checking.schemas import nearest, schemas_for
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.exemptions import exemption_names, today
from pulumi_lws.rules.judging import could_not_judge, registered
from pulumi_lws.rules.rule import Program, RegisteredObject, Rule, Target
from pulumi_lws.rules.scope import Exempted, Scope

RULES_OF_FILES: tuple[Rule, ...] = (
    *(rule for rule in RULES if not rule.of_programs),
    exemption_names([rule.name for rule in RULES]),
)
"""The rules that an object in a file can be held to."""

_LONGEST_TEXT = 500
_ORDER = list(Severity)
_ALL_OBJECTS = Scope()


def check(
    paths: Sequence[str], target: Target, rules: Sequence[Rule] = RULES_OF_FILES, scope: Scope = _ALL_OBJECTS
) -> Report:
    """Read files, folders and standard input (``-``), and judge every object in them.

    Args:
        paths: What to read.
        target: The cluster that the objects are meant for.
        rules: What to hold them to, beside their schemas.
        scope: What the rules leave out; its target does not count here.
    """
    read = list(read_objects(paths))
    objects = [item for item in read if isinstance(item, ReadObject)]
    errors = [replace(item, message=_short(item.message)) for item in read if isinstance(item, Unreadable)]
    subjects = Program(registered(item.manifest) for item in objects)
    judged: list[CheckedObject] = []
    exempted: list[Exempted] = []
    for item, subject in zip(objects, subjects, strict=True):
        found = _judge_rules(subject, subjects, target, rules) if scope.covers(subject) else []
        kept, exempt = scope.heed(found, subject, today())
        judged.append(_judge(item, subject, target, kept))
        exempted += exempt
    left_out = [item for item in read if isinstance(item, LeftOut)]
    return Report(tuple(judged), tuple(errors), tuple(rules), tuple(_notes(target, left_out, exempted)))


def _notes(target: Target, left_out: Sequence[LeftOut], exempted: Sequence[Exempted]) -> Iterator[str]:
    version = nearest(target.kubernetes)
    if version != target.kubernetes:
        wanted, known = (".".join(map(str, numbers)) for numbers in (target.kubernetes, version))
        yield f"there are no schemas of Kubernetes {wanted}; its own kinds were judged by those of {known}"
    if left_out:
        files = ", ".join(dict.fromkeys(item.file for item in left_out))
        yield f"left out, having neither apiVersion nor kind: {files}"
    for (rule, reason), count in Counter((each.problem.rule, each.reason) for each in exempted).items():
        yield f"exempt from {rule}: {count} problem{'s' if count > 1 else ''} ({_short(reason)})"


def _judge(read: ReadObject, subject: RegisteredObject, target: Target, by_rules: Sequence[Problem]) -> CheckedObject:
    schema, found = _judge_schema(read, subject, target)
    problems = [
        *(
            {
                problem.path: _by_schema(read, problem, refused=not is_taken(problem, subject, target))
                for problem in reversed(list(found))
            }.values()
        ),
        *by_rules,
    ]
    problems.sort(key=lambda problem: (_ORDER.index(problem.severity), problem.path, problem.rule))
    # Two objects around it may be wrong with it in the same words.
    return CheckedObject(read, schema, tuple(dict.fromkeys(map(_shortened, problems))))


def _judge_schema(read: ReadObject, subject: RegisteredObject, target: Target) -> tuple[str, Iterable[Problem]]:
    """Return what an object is judged by, and what the API server would refuse of it."""
    api_version, kind = read.text("apiVersion"), read.text("kind")
    if not api_version or not kind:
        return "none", _missing_type(read)
    if subject.kind in MODELS:
        own = [*problems_of_own(subject, target), *name_problems(read.manifest, subject.kind)]
        return "own", [*own, *label_problems(read.manifest)]
    published = schemas_for(target.kubernetes)
    if definition := published.definition_of(api_version, kind):
        core = [*published.problems(read.manifest, definition), *name_problems(read.manifest, subject.kind)]
        return "core", [*core, *label_problems(read.manifest)]
    if published.owns(api_version):
        similar = published.similar(api_version, kind)
        version = ".".join(map(str, published.version))
        fix = f"Write {similar[0]}." if similar else "Correct apiVersion and kind."
        return "core", [Problem("kind", f"{api_version} {kind}", f"a kind that Kubernetes {version} has", fix)]
    return "none", label_problems(read.manifest)


def _missing_type(read: ReadObject) -> Iterator[Problem]:
    for field, example in (("apiVersion", "apps/v1"), ("kind", "Deployment")):
        if not read.text(field):
            found = "nothing" if read.manifest.get(field) in (None, "") else "no text"
            yield Problem(field, found, f"text such as {example}", f"Add {field}; without it this is no object.")


def _by_schema(read: ReadObject, problem: Problem, *, refused: bool) -> Problem:
    problem = replace(problem, rule=SCHEMA_RULE, refused=refused)
    written = written_at(read.manifest, problem.path) if problem.allowed.startswith("text") else None
    if read.text("kind") == "Secret" and problem.path.startswith(("data", "stringData")):
        return replace(problem, found="a value that is not shown here", fix="Quote it." if written else problem.fix)
    return replace(problem, fix=f'Quote it: "{written}".') if written else problem


def _judge_rules(subject: RegisteredObject, others: Program, target: Target, rules: Sequence[Rule]) -> list[Problem]:
    problems: list[Problem] = []
    for rule in rules:
        try:
            problems += rule.problems(subject, target, others=others)
        except Exception as error:  # noqa: BLE001 - a mistake in one rule must not hide what the others find
            problems.append(could_not_judge(rule, error))
    return problems


def _shortened(problem: Problem) -> Problem:
    texts: dict[str, Any] = {name: _short(getattr(problem, name)) for name in ("path", "found", "allowed", "fix")}
    return replace(problem, **texts)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
