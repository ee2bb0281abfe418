# ruff: noqa: N802, ARG002 - the protocol names the methods and gives each of them both arguments
"""Answers the engine's calls for the package ``aws``, the service ``pulumirpc.ResourceProvider``."""

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import grpc
import grpc.aio
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from lab.aws import changes, checking, enforcing, functions, tables, values
from lab.aws.checking import Finding
from lab.aws.cluster_access import ClusterAccess
from lab.aws.kinds import KINDS
from lab.aws.kinds.kind import Kind, RefusedError, Request
from lab.aws.places import ACCOUNT_ID, REGIONS
from lab.aws.state import Account, AccountFile, Object
from lab.aws.tables import Table, UnknownTokenError
from lab.aws.values import Surroundings
from lab.aws.wire import UNKNOWN, received, sent

Context = grpc.aio.ServicerContext[Any, Any]

_PROVIDER = "aws:index:Provider"
_DEFAULTS = "__defaults"
_SUFFIX_BYTES, _SUFFIX_LETTERS = 4, 7


class AwsProvider(provider_pb2_grpc.ResourceProviderServicer):
    """The provider.

    Args:
        accounts: Folder in which what exists is kept.
        run: Name of the engine's run, all providers of which share what a preview would make.
        access: How clusters are reached.
    """

    def __init__(self, accounts: Path, run: str, access: ClusterAccess) -> None:
        self._file, self._planned = AccountFile(accounts), AccountFile(accounts, run=run)
        self._access = access
        self._region = ""
        self._tags: Mapping[str, str] = {}

    def close(self) -> None:
        """Forget what was planned."""
        self._planned.delete()

    async def GetPluginInfo(self, request: empty_pb2.Empty, context: Context) -> plugin_pb2.PluginInfo:
        """The version that the SDK asks for."""
        return plugin_pb2.PluginInfo(version=tables.version("pulumi-aws"))

    async def GetSchema(
        self, request: provider_pb2.GetSchemaRequest, context: Context
    ) -> provider_pb2.GetSchemaResponse:
        """A schema without resources: the engine asks for it, programs never do."""
        schema = {"name": "aws", "version": tables.version("pulumi-aws")}
        return provider_pb2.GetSchemaResponse(schema=json.dumps(schema))

    async def CheckConfig(self, request: provider_pb2.CheckRequest, context: Context) -> provider_pb2.CheckResponse:
        """Check the provider's own settings."""
        settings = _settings(received(request.news))
        findings = checking.check(tables.table(_PROVIDER), settings)
        region = settings.get("region")
        if not region:
            findings.append(Finding("region", "no region is set. Set one: pulumi config set aws:region us-east-2"))
        elif region not in (*REGIONS, UNKNOWN):
            known = ", ".join(REGIONS)
            findings.append(Finding("region", f"invalid AWS Region: {region}. This stand-in knows {known}."))
        return provider_pb2.CheckResponse(inputs=request.news, failures=_failures(findings))

    async def DiffConfig(self, request: provider_pb2.DiffRequest, context: Context) -> provider_pb2.DiffResponse:
        """Another region takes another provider, as in the real one."""
        old, new = _settings(received(request.old_inputs)), _settings(received(request.news))
        differs = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
        some = provider_pb2.DiffResponse.DiffChanges.DIFF_SOME if differs else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(
            changes=some, diffs=differs, replaces=[name for name in differs if name == "region"]
        )

    async def Configure(
        self, request: provider_pb2.ConfigureRequest, context: Context
    ) -> provider_pb2.ConfigureResponse:
        """Take the settings. Credentials open whichever account the program allows.

        Secrets, resources and outputs are refused as types of their own: the engine then sends plain values, and marks
        what comes of a secret as secret.
        """
        settings = _settings(received(request.args))
        self._region = settings["region"]
        allowed = settings.get("allowedAccountIds", [])
        number = ACCOUNT_ID if allowed in ([], UNKNOWN) else allowed[0]
        self._file, self._planned = replace(self._file, number=number), replace(self._planned, number=number)
        tags = settings.get("defaultTags", {})
        self._tags = {} if tags == UNKNOWN else tags.get("tags", {})
        return provider_pb2.ConfigureResponse(supportsPreview=True)

    async def Check(self, request: provider_pb2.CheckRequest, context: Context) -> provider_pb2.CheckResponse:
        """Check what a program wants, and fill in names and defaults."""
        try:
            table, kind = tables.table(request.type), KINDS.get(request.type)
        except UnknownTokenError as error:
            await _refuse(context, str(error))
        old, new = received(request.olds), received(request.news)
        wanted = _filled(table, kind, old, new, request.name)
        findings = checking.check(table, wanted)
        findings += enforcing.form_problems(kind, wanted) if not findings else ()
        return provider_pb2.CheckResponse(inputs=sent(wanted), failures=_failures(findings))

    async def Diff(self, request: provider_pb2.DiffRequest, context: Context) -> provider_pb2.DiffResponse:
        """What differs, and whether it takes a new object."""
        table, kind = tables.table(request.type), KINDS.get(request.type)
        old, new = received(request.old_inputs), received(request.news)
        found = changes.changes(kind, table, old, new)
        replaces = list(dict.fromkeys(_top(change.path) for change in found if change.replaces))
        details = {
            change.path: provider_pb2.PropertyDiff(
                kind=provider_pb2.PropertyDiff.Kind.Value(change.kind + ("_REPLACE" if change.replaces else "")),
                inputDiff=True,
            )
            for change in found
        }
        name = kind.named_by if kind else "name"
        kept_name = name in new and new[name] == old.get(name) and name not in new.get(_DEFAULTS, ())
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if found else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=list(dict.fromkeys(_top(change.path) for change in found)),
            replaces=replaces,
            # As the real provider: two objects cannot have one name, so that the old one must go first.
            deleteBeforeReplace=bool(replaces) and kept_name,
            detailedDiff=details,
            hasDetailedDiff=True,
        )

    async def Create(self, request: provider_pb2.CreateRequest, context: Context) -> provider_pb2.CreateResponse:
        """Make an object, or plan to."""
        table, kind = tables.table(request.type), KINDS.get(request.type)
        wanted = received(request.properties)
        try:
            if request.preview:
                # What a replacement deletes first is still there while it is planned.
                around = self._surroundings(self._foreseen().without(request.urn), wanted)
                _judge(kind, request.type, wanted, around)
                outputs = values.planned(kind, table, wanted, around)
                identifier, described = values.foreseen(kind, outputs, around)
                with self._planned.changed() as planned:
                    planned.add(Object(request.type, identifier, wanted, described, urn=request.urn))
                return provider_pb2.CreateResponse(properties=sent(outputs))
            with self._file.changed() as account:
                around = self._surroundings(account, wanted)
                _judge(kind, request.type, wanted, around)
                identifier, outputs = values.made(kind, table, wanted, around)
                new = Object(request.type, identifier, wanted, outputs, urn=request.urn)
                account.add(new, *(kind.owns(new) if kind and kind.owns else ()))
        except RefusedError as refusal:
            await _refuse(context, f"creating {_called(request.type, kind)} ({request.name}): {refusal}")
        return provider_pb2.CreateResponse(id=identifier, properties=sent(outputs))

    async def Update(self, request: provider_pb2.UpdateRequest, context: Context) -> provider_pb2.UpdateResponse:
        """Change an object, or plan to."""
        table, kind = tables.table(request.type), KINDS.get(request.type)
        wanted, before = received(request.news), received(request.olds)
        try:
            if request.preview:
                around = self._surroundings(self._foreseen(), wanted)
                _judge(kind, request.type, wanted, around, _found(around.account, request))
                outputs = values.changed(kind, table, wanted, around, before)
                return provider_pb2.UpdateResponse(properties=sent(values.with_bumps(kind, outputs, preview=True)))
            with self._file.changed() as account:
                found, around = _found(account, request), self._surroundings(account, wanted)
                _judge(kind, request.type, wanted, around, found)
                outputs = values.changed(kind, table, wanted, around, found.outputs)
                found.inputs, found.outputs = wanted, values.with_bumps(kind, outputs, preview=False)
                outputs = found.outputs
        except RefusedError as refusal:
            await _refuse(context, f"updating {_called(request.type, kind)} ({request.id}): {refusal}")
        return provider_pb2.UpdateResponse(properties=sent(outputs))

    async def Delete(self, request: provider_pb2.DeleteRequest, context: Context) -> empty_pb2.Empty:
        """Remove an object; one that is gone already is no error, as in the real provider."""
        kind = KINDS.get(request.type)
        try:
            with self._file.changed() as account:
                if gone := account.find(request.type, request.id):
                    enforcing.refuse_deletion(kind, gone, account)
                    account.remove(gone)
        except RefusedError as refusal:
            await _refuse(context, f"deleting {_called(request.type, kind)} ({request.id}): {refusal}")
        return empty_pb2.Empty()

    async def Read(self, request: provider_pb2.ReadRequest, context: Context) -> provider_pb2.ReadResponse:
        """An object as it is; without an id where it is gone."""
        found = self._file.read().find(request.type, request.id)
        if found is None:
            return provider_pb2.ReadResponse()
        # Defaults that were filled in are no wish of the program's, which the next check must still see.
        known = received(request.inputs)
        inputs = found.inputs or {
            name: value for name, value in found.outputs.items() if name in tables.table(request.type)["inputs"]
        }
        inputs = {**inputs, _DEFAULTS: known.get(_DEFAULTS, inputs.get(_DEFAULTS, []))}
        return provider_pb2.ReadResponse(id=found.id, properties=sent(found.outputs), inputs=sent(inputs))

    async def Invoke(self, request: provider_pb2.InvokeRequest, context: Context) -> provider_pb2.InvokeResponse:
        """Answer a function."""
        response = provider_pb2.InvokeResponse()
        arguments = received(request.args)
        try:
            findings = checking.check(tables.table(request.tok), arguments)
            if not findings:
                around = self._surroundings(self._file.read(), arguments)
                getattr(response, "return").CopyFrom(sent(functions.answer(request.tok, arguments, around)))
        except (RefusedError, UnknownTokenError) as refusal:
            await _refuse(context, str(refusal))
        response.failures.extend(_failures(findings))
        return response

    async def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:
        """Nothing takes long enough to be cancelled."""
        return request

    def _surroundings(self, account: Account, wanted: Mapping[str, Any]) -> Surroundings:
        region = wanted.get("region", UNKNOWN)
        region = self._region if region == UNKNOWN else region
        if region not in REGIONS:
            raise RefusedError(f"invalid AWS Region: {region}")
        return Surroundings(region, self._tags, account, self._access)

    def _foreseen(self) -> Account:
        """What exists, and what this preview would make."""
        return Account(self._file.number, [*self._file.read().objects, *self._planned.read().objects])


def _judge(
    kind: Kind | None, type_: str, wanted: Mapping[str, Any], around: Surroundings, before: Object | None = None
) -> None:
    if kind:
        enforcing.refuse_wrong(kind, type_, Request(wanted, around.region, around.account, before))


def _found(account: Account, request: provider_pb2.UpdateRequest) -> Object:
    if found := account.find(request.type, request.id):
        return found
    raise RefusedError(f"it does not exist: {request.id}. Somebody deleted it; pulumi refresh forgets it")


def _filled(
    table: Table, kind: Kind | None, old: Mapping[str, Any], new: Mapping[str, Any], name: str
) -> dict[str, Any]:
    """What a program wants, with the name and the defaults that the real provider fills in."""
    wanted = {key: _as_text(table, key, value) for key, value in new.items() if not key.startswith("__")}
    defaults = {key: value for key, value in (kind.defaults if kind else {}).items() if key not in wanted}
    prop = kind.named_by if kind else "name"
    if prop in table["inputs"] and not {prop, f"{prop}Prefix"} & set(wanted):
        given = old[prop] if prop in old.get(_DEFAULTS, ()) and prop in old else ""
        like = kind.named_like if kind else Kind.named_like
        suffix = secrets.token_hex(_SUFFIX_BYTES)[:_SUFFIX_LETTERS]
        defaults[prop] = given or like.format(name=name, suffix=suffix)
    return {**wanted, **defaults, _DEFAULTS: sorted(defaults)}


def _as_text(table: Table, name: str, value: Any) -> Any:
    """Policies may be given as objects; AWS knows them as text."""
    declared = table["inputs"][name]["type"] if name in table["inputs"] else None
    takes_both = isinstance(declared, dict) and "string" in declared.get("either", ())
    return json.dumps(value) if takes_both and isinstance(value, dict) else value


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """A provider's settings: the engine sends each value that is no string as JSON."""
    types = {name: one["type"] for name, one in tables.table(_PROVIDER)["inputs"].items()}
    settings = {name: value for name, value in given.items() if name not in ("version", "pluginDownloadURL")}
    for name, value in settings.items():
        if isinstance(value, str) and value != UNKNOWN and types.get(name, "string") != "string":
            settings[name] = json.loads(value)
    if region := os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"):
        settings.setdefault("region", region)
    return settings


def _failures(findings: Iterable[Finding]) -> list[provider_pb2.CheckFailure]:
    return [provider_pb2.CheckFailure(property=path, reason=reason) for path, reason in findings]


def _top(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def _called(type_: str, kind: Kind | None) -> str:
    return kind.called if kind else type_


async def _refuse(context: Context, message: str) -> NoReturn:
    await context.abort(grpc.StatusCode.FAILED_PRECONDITION, message)
    raise AssertionError  # abort has raised
