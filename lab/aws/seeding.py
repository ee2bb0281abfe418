"""Makes things exist in an account that programs name and do not make: roles, networks, keys."""

import re
from collections.abc import Mapping
from pathlib import Path
from string import Formatter
from typing import Any

import yaml

from lab.aws import checking, enforcing, tables, values
from lab.aws.cluster_access import ClusterAccess
from lab.aws.kinds import KINDS
from lab.aws.kinds.kind import RefusedError
from lab.aws.places import ACCOUNT_ID, REGIONS
from lab.aws.state import AccountFile, Object
from lab.aws.values import Surroundings
from lab.errors import LabError

_FORMS = {"account": r"\d{12}", "region": r"[a-z0-9-]+", "path": r"/(?:.+/)?"}
"""Forms of words in ARNs; others hold neither slash nor colon, unless they come last."""

_WAY_OUT = "docs/lab.md shows such a file."


def seed(file: Path, accounts: Path, access: ClusterAccess) -> list[str]:
    """Make exist what a file names: a mapping from ARNs to properties, as a program would write them, or to nothing.

    What exists already stays as it is.

    Args:
        file: The file, YAML.
        accounts: Folder of a lab's accounts.
        access: How clusters are reached.

    Returns:
        The ARNs of what did not exist before.

    Raises:
        LabError: The file cannot be read, or AWS could not have such a thing.
    """
    made = []
    for arn, properties in _read(file).items():
        try:
            type_, words = _recognised(arn)
            with AccountFile(accounts, words.get("account", ACCOUNT_ID)).changed() as account:
                around = Surroundings(words.get("region", REGIONS[0]), {}, account, access)
                new = _object(type_, words, properties or {}, around)
                if account.find(type_, new.id) is None:
                    owns = KINDS[type_].owns
                    account.add(new, *(owns(new) if owns else ()))
                    made.append(arn)
        except RefusedError as refusal:
            raise LabError(f"{arn} in {file} cannot exist: {refusal}", _WAY_OUT) from None
    return made


def _read(file: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise LabError(f"{file} cannot be read.", _WAY_OUT, str(error)) from None
    entries = content.items() if isinstance(content, dict) else [(None, None)]
    if not all(isinstance(arn, str) and isinstance(properties, dict | None) for arn, properties in entries):
        raise LabError(f"{file} is no mapping from ARNs to properties.", _WAY_OUT)
    return dict(entries)


def _recognised(arn: str) -> tuple[str, dict[str, str]]:
    """The type of the object that an ARN names, and the words in it."""
    for type_, kind in KINDS.items():
        template = kind.id if kind.arn == "{id}" else kind.arn
        if template and (match := re.fullmatch(_pattern(template), arn)):
            return type_, match.groupdict()
    raise RefusedError("this stand-in has no rules for an ARN of this form")


def _pattern(template: str) -> str:
    """A regular expression for the ARNs that a template makes."""
    pattern, last = "", "[^/:]+"
    for text, word, _, _ in reversed(list(Formatter().parse(template))):
        form = _FORMS.get(word or "", last if pattern else ".+")
        pattern = re.escape(text) + (f"(?P<{word}>{form})" if word else "") + pattern
    return pattern


def _object(type_: str, words: Mapping[str, str], properties: Mapping[str, Any], around: Surroundings) -> Object:
    """What the account would have, had somebody made it so."""
    kind, table = KINDS[type_], tables.table(type_)
    # Of what AWS requires only where it stands, so that a role takes its ARN alone.
    ties = {reference.path for reference in kind.references if reference.blocks}
    inputs: tables.Properties = {
        name: {**one, "required": one["required"] and name in ties} for name, one in table["inputs"].items()
    }
    asked = {name: word for name, word in words.items() if name in inputs} | dict(properties)
    findings = checking.check({**table, "inputs": inputs}, asked)
    findings += [found for found in enforcing.form_problems(kind, asked) if found.path in kind.forms]
    for found in findings:
        raise RefusedError(found.reason)
    enforcing.refuse_missing(kind, asked, around.account)
    identifier, outputs = values.made(kind, table, {**kind.defaults, **words, **asked}, around)
    return Object(type_, identifier, {}, outputs)
