"""What AWS adds to what it is asked for: ids, ARNs and other computed values."""

import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from string import Formatter
from typing import Any

from lab.aws.cluster_access import ClusterAccess
from lab.aws.kinds.kind import Kind
from lab.aws.kinds.network import SUBNET
from lab.aws.places import ADDON_VERSIONS, KUBERNETES_VERSIONS
from lab.aws.state import Account
from lab.aws.tables import Table
from lab.aws.wire import UNKNOWN, at, is_known


@dataclass(frozen=True)
class Surroundings:
    """Where an object is made.

    Attributes:
        region: The region.
        tags: Tags that the provider adds to every object.
        account: What exists.
        access: How clusters are reached.
    """

    region: str
    tags: Mapping[str, str]
    account: Account
    access: ClusterAccess


class _Words(dict[str, Any]):
    """The words of a template; those that must differ each time are made when they are asked for."""

    def __missing__(self, word: str) -> str:
        made = {
            "hex": lambda: secrets.token_hex(9)[1:],
            "HEX": lambda: secrets.token_hex(16).upper(),
            "byte": lambda: str(secrets.randbelow(254) + 1),
            "number": lambda: str(secrets.randbelow(10**9)),
            "uuid": lambda: str(uuid.uuid4()),
        }
        return made[word]() if word in made else ""


def planned(kind: Kind | None, table: Table, values: Mapping[str, Any], around: Surroundings) -> dict[str, Any]:
    """What a preview says of a new object: everything that AWS computes is unknown."""
    outputs = _given(table, values, around)
    for name, declared in table["outputs"].items():
        if name not in outputs and declared["required"]:
            outputs[name] = UNKNOWN
    for name, added in (kind.outputs if kind else {}).items():
        if isinstance(added, dict) and isinstance(outputs.get(name), dict):
            outputs[name] = {**dict.fromkeys(added, UNKNOWN), **outputs[name]}
    if not is_known(values.get("tags")):
        outputs["tagsAll"] = UNKNOWN
    return outputs


def foreseen(kind: Kind | None, outputs: Mapping[str, Any], around: Surroundings) -> tuple[str, dict[str, Any]]:
    """What others may say of a planned object before it exists: its id and ARN, where they follow from its name."""
    templates = (kind.id, kind.arn) if kind else ("{hex}", "")
    words = {**outputs, "account": around.account.number, "region": around.region}
    follows = [
        all(words.get(word, UNKNOWN) != UNKNOWN for _, word, _, _ in Formatter().parse(template) if word)
        for template in templates
    ]
    identifier = templates[0].format_map(words) if follows[0] else ""
    return identifier, {**outputs, **({"arn": templates[1].format_map(words)} if follows[1] else {})}


def made(
    kind: Kind | None, table: Table, values: Mapping[str, Any], around: Surroundings
) -> tuple[str, dict[str, Any]]:
    """A new object: its id, which may stand among its values, and what it is."""
    outputs, words = _given(table, values, around), _words(values, around)
    identifier = values.get("id") or (kind.id if kind else _any_id(table["token"])).format_map(words)
    words = _Words({**words, "id": identifier})
    arn = (kind.arn if kind else _any_arn(table["token"])).format_map(words)
    for name, added in (kind.outputs if kind else {}).items():
        filled = _filled(added, words)
        if isinstance(filled, dict) and isinstance(outputs.get(name), dict):
            outputs[name] = {**filled, **outputs[name]}
        else:
            outputs.setdefault(name, filled)
    if arn and "arn" in table["outputs"]:
        outputs["arn"] = arn
    for name, declared in table["outputs"].items():
        if declared["required"] and name not in outputs:
            outputs[name] = _by_type(name, declared["type"], identifier, around)
    return identifier, outputs


def changed(
    kind: Kind | None, table: Table, values: Mapping[str, Any], around: Surroundings, before: Mapping[str, Any]
) -> dict[str, Any]:
    """An object after a change: what AWS computed stays, but for what each change raises; unknown stays unknown."""
    given = _given(table, values, around)
    kept = {name: before[name] for name, one in table["outputs"].items() if name in before and one["required"]}
    outputs = {**kept, **given}
    for name, added in (kind.outputs if kind else {}).items():
        if isinstance(added, dict) and isinstance(given.get(name), dict) and isinstance(kept.get(name), dict):
            outputs[name] = {**{part: kept[name][part] for part in added if part in kept[name]}, **given[name]}
    if not is_known(values.get("tags")):
        outputs["tagsAll"] = UNKNOWN
    return outputs


def with_bumps(kind: Kind | None, outputs: Mapping[str, Any], *, preview: bool) -> dict[str, Any]:
    """An object's outputs with the numbers raised that each change raises; a preview does not know them."""
    raised = kind.bumped if kind else ()
    return {**outputs, **{name: UNKNOWN if preview else outputs.get(name, 0) + 1 for name in raised}}


def _given(table: Table, values: Mapping[str, Any], around: Surroundings) -> dict[str, Any]:
    outputs = {name: value for name, value in values.items() if name in table["outputs"] and value is not None}
    if "region" in table["outputs"]:
        outputs.setdefault("region", around.region)
    if "tagsAll" in table["outputs"]:
        tags = values.get("tags") or {}
        outputs["tagsAll"] = UNKNOWN if tags == UNKNOWN else {**around.tags, **tags}
    return outputs


def _words(values: Mapping[str, Any], around: Surroundings) -> _Words:
    subnets = (around.account.find(SUBNET, one) for one in at(values, "vpcConfig.subnetIds"))
    kubernetes = around.account.named("aws:eks/cluster:Cluster", "name", values.get("clusterName", ""))
    version = kubernetes.outputs["version"] if kubernetes else KUBERNETES_VERSIONS[-1]
    return _Words(
        {
            **values,
            "account": around.account.number,
            "region": around.region,
            "endpoint": around.access.endpoint,
            "certificate_authority": around.access.certificate_authority,
            "vpc_of_subnets": next((one.outputs["vpcId"] for one in subnets if one), ""),
            "addon_version": addon_version(values.get("addonName", ""), version),
            "url_path": str(values.get("url", "")).removeprefix("https://"),
        }
    )


def _any_id(token: str) -> str:
    return f"{token.rpartition(':')[2].lower()}-{{hex}}"


def _any_arn(token: str) -> str:
    _, service, name = token.split(":")
    return f"arn:aws:{service.partition('/')[0]}:{{region}}:{{account}}:{name.lower()}/{{id}}"


def addon_version(addon: str, kubernetes: str) -> str:
    """The version of an add-on that EKS would take; empty for one that it does not have."""
    return ADDON_VERSIONS.get(addon, "").format(kubernetes=kubernetes)


def _filled(template: Any, words: _Words) -> Any:
    if isinstance(template, str):
        return template.format_map(words)
    if isinstance(template, dict):
        return {name: _filled(value, words) for name, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, words) for value in template]
    return template


def _by_type(name: str, declared: Any, identifier: str, around: Surroundings) -> Any:
    if name in ("ownerId", "accountId", "registryId"):
        return around.account.number
    if isinstance(declared, dict):
        [(form, of)] = declared.items()
        empty = {"list": list, "map": dict, "object": dict}
        return empty[form]() if form in empty else _by_type(name, of[0], identifier, around)
    if name.endswith(("At", "Date", "Time")) and declared == "string":
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    # Not empty, since programs put such values into other resources.
    return {"boolean": False, "integer": 0, "number": 0}.get(declared, f"{name}-of-{identifier}")
