import json
import re
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from pulumi_lws.checking.formats import github, sarif, text
from pulumi_lws.checking.formats import json as json_format
from pulumi_lws.checking.judging import check
from pulumi_lws.checking.report import Report
from pulumi_lws.rules.rule import Rule, Target

WriteManifest = Callable[[str], str]

MANIFESTS = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: glm-5, namespace: models, labels: {team: on}}
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec: {containers: [{name: vllm, image: vllm}]}
---
apiVersion: v1
kind: Service
metadata: {name: "a\\e[31m,b:%"}
---
a: [
"""
REFUSED = "at most 63 lower-case letters, digits and '-', starting with a letter, not ending with '-'"


@pytest.fixture
def report(write_manifest: WriteManifest, size_rule: Rule) -> Report:
    return check([write_manifest(MANIFESTS)], Target(kubernetes=(1, 20)), (size_rule,))


def test_json_is_the_interface_that_others_read(report: Report) -> None:
    schema = {"rule": "schema", "severity": "error", "refused": True}
    name = "a\x1b[31m,b:%"
    assert json.loads(json_format.render(report)) == {
        "objects": [
            {
                "file": "group.yaml",
                "document": 0,
                "apiVersion": "leaderworkerset.x-k8s.io/v1",
                "kind": "LeaderWorkerSet",
                "namespace": "models",
                "name": "glm-5",
                "schema": "own",
                "problems": [
                    schema
                    | {"path": "metadata.labels.team", "found": "true", "allowed": "text", "fix": 'Quote it: "on".'},
                    {
                        "rule": "size-is-odd",
                        "severity": "warning",
                        "refused": False,
                        "path": "spec.leaderWorkerTemplate.size",
                        "found": "2, which is even",
                        "allowed": "an odd number",
                        "fix": "Add a pod.",
                    },
                ],
            },
            {
                "file": "group.yaml",
                "document": 1,
                "apiVersion": "v1",
                "kind": "Service",
                "namespace": None,
                "name": name,
                "schema": "core",
                "problems": [
                    schema
                    | {
                        "path": "metadata.name",
                        "found": repr(name),
                        "allowed": REFUSED,
                        "fix": "Choose a name of that form.",
                    }
                ],
            },
        ],
        "errors": [
            {"file": "group.yaml", "document": 2, "message": "line 15: did not find expected node content"},
        ],
    }


def test_text_says_each_reason_once_and_counts_at_the_end(report: Report) -> None:
    assert (
        text.plain(report)
        == f"""\
group.yaml:1 LeaderWorkerSet models/glm-5
  error   metadata.labels.team (line 3)  schema, refused by the API server
          found true; allowed: text
          why: The API server refuses an object with fields that its schema does not have, or with values out of bounds.
          fix: Quote it: "on".
  warning spec.leaderWorkerTemplate.size (line 6)  size-is-odd
          found 2, which is even; allowed: an odd number
          why: Even groups are dull: 50%.
          fix: Add a pod.

group.yaml:10 Service a\\x1b[31m,b:%
  error   metadata.name (line 12)  schema, refused by the API server
          found 'a\\x1b[31m,b:%'; allowed: {REFUSED}
          fix: Choose a name of that form.

unreadable group.yaml, document 2: line 15: did not find expected node content
note: there are no schemas of Kubernetes 1.20; its own kinds were judged by those of 1.25
Samples of each rule, and how to exempt: docs/rules/<rule>.md of pulumi-lws.
2 objects, 2 errors, 1 warning, 1 unreadable
"""
    )


def test_text_has_only_the_closing_line_when_all_is_well(write_manifest: WriteManifest) -> None:
    well = check([write_manifest("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")], Target(), ())
    assert text.plain(well) == "1 object, 0 errors, 0 warnings\n"


def test_github_gets_commands_with_everything_escaped(report: Report) -> None:
    assert github.render(report) == (
        "::error file=group.yaml,line=3,title=schema::LeaderWorkerSet models/glm-5: metadata.labels.team: found true;"
        ' allowed: text. Quote it: "on".\n'
        "::warning file=group.yaml,line=6,title=size-is-odd::LeaderWorkerSet models/glm-5:"
        " spec.leaderWorkerTemplate.size: found 2, which is even; allowed: an odd number. Add a pod.\n"
        "::error file=group.yaml,line=12,title=schema::Service a\\x1b[31m,b:%25: metadata.name: found"
        f" 'a\\x1b[31m,b:%25'; allowed: {REFUSED}. Choose a name of that form.\n"
        "::error file=group.yaml,line=15,title=unreadable::line 15: did not find expected node content\n"
        "::notice title=lws check::there are no schemas of Kubernetes 1.20; its own kinds were judged by those of"
        " 1.25\n"
    )


def test_names_of_files_cannot_break_out_of_a_github_command(tmp_path: Path) -> None:
    folder = tmp_path / "a,line=9::x%\nb"
    folder.mkdir()
    (folder / "a.yaml").write_text("a")
    [line] = github.render(check([str(folder)], Target(), ())).splitlines()
    assert re.fullmatch(r"::error file=\S+a%2Cline=9%3A%3Ax%25%0Ab/a\.yaml,line=1,title=unreadable::line 1: .*", line)


def test_sarif_says_rules_places_and_what_was_unreadable(report: Report) -> None:
    written = json.loads(sarif.render(report))
    [run] = written.pop("runs")
    assert written == {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
    }
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("lws check", metadata.version("pulumi-lws"))
    assert [rule["id"] for rule in driver["rules"]] == ["schema", "size-is-odd"]
    assert driver["rules"][1] == {
        "id": "size-is-odd",
        "shortDescription": {"text": "Groups have an odd size."},
        "fullDescription": {"text": "Even groups are dull: 50%."},
        "help": {"text": "Add a pod. Samples, and how to exempt: docs/rules/size-is-odd.md of pulumi-lws."},
        "defaultConfiguration": {"level": "warning"},
    }
    assert run["results"][1] == {
        "ruleId": "size-is-odd",
        "level": "warning",
        "message": {
            "text": "LeaderWorkerSet models/glm-5: spec.leaderWorkerTemplate.size: found 2, which is even; allowed: an"
            " odd number. Add a pod."
        },
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": "group.yaml"}, "region": {"startLine": 6}},
                "logicalLocations": [
                    {
                        "fullyQualifiedName": "LeaderWorkerSet models/glm-5 spec.leaderWorkerTemplate.size",
                        "kind": "member",
                    }
                ],
            }
        ],
        "properties": {"refused": False},
    }
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [note["level"] for note in invocation["toolExecutionNotifications"]] == ["error", "note"]


def test_sarif_has_no_absolute_path(write_manifest: WriteManifest, tmp_path: Path) -> None:
    write_manifest("a")
    (tmp_path / "with space.yaml").write_text("a")
    written = sarif.render(check([str(tmp_path)], Target(), ()))
    assert re.findall(r'"uri": "(.*)"', written) == ["group.yaml", "with%20space.yaml"]
    assert str(tmp_path) not in written
