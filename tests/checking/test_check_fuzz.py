"""Whatever somebody feeds it, a check ends with a report that every format can be written from."""

import copy
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pulumi_lws.checking.judging import check
from pulumi_lws.checking.report import Report
from pulumi_lws.cli.check import Format
from pulumi_lws.cli.output import write
from pulumi_lws.rules.rule import Target

SEEDS: list[dict[str, Any]] = [
    {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "a", "namespace": "b", "labels": {"c": "d"}, "annotations": {"e": "f"}},
        "spec": {
            "replicas": 2,
            "startupPolicy": "LeaderReady",
            "networkConfig": {"subdomainPolicy": "Shared"},
            "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxSurge": "10%"}},
            "leaderWorkerTemplate": {
                "size": 4,
                "subGroupPolicy": {"subGroupSize": 2},
                "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": {}}],
                "leaderTemplate": {"spec": {"containers": [{"name": "x", "env": [{"name": "A", "value": "1"}]}]}},
                "workerTemplate": {"metadata": {"labels": {}}, "spec": {"containers": [{"name": "x", "args": ["a"]}]}},
            },
        },
    },
    {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": {"name": "a"},
        "spec": {
            "slices": 2,
            "placementPolicy": {"type": "ExclusiveSlice", "topology": "zone"},
            "roles": [
                {"name": name, "spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": []}}}}}
                for name in ("prefill", "decode")
            ],
        },
    },
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a"},
        "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]},
    },
    {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"},
        "spec": {"maxReplicas": 2, "scaleTargetRef": {"kind": "LeaderWorkerSet", "name": "a"}},
    },
    {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "karpenter.sh/v1", "kind": "NodePool"}]},
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["10%", "", "-1", "LeaderReady", "1e400", "0777", "\ud7ff\u2028\x85", "x" * 300])
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))
STRANGE = st.sampled_from([*"\t\n\r\0 :-?[]{}&*!|>'\"%@`#,<.~=\ufeff\x85\u2028", "---\n", "&a ", "*a ", "<<: ", "{{"])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "a.yaml"


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every part of a value: what holds it, and its key or index."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from places(value[key])


@st.composite
def mutated_objects(draw: st.DrawFn) -> list[dict[str, Any]]:
    objects = copy.deepcopy(SEEDS)
    for _ in range(draw(st.integers(1, 4))):
        holder, key = draw(st.sampled_from(list(places(objects))))
        match draw(st.sampled_from(["replace", "remove", "add"])):
            case "replace":
                holder[key] = draw(VALUES)
            case "remove":
                del holder[key]
            case _ if isinstance(holder, dict):
                holder[draw(st.text(max_size=5))] = draw(VALUES)
            case _:
                holder.append(draw(VALUES))
    return objects


@st.composite
def mutated_texts(draw: st.DrawFn) -> str:
    text = yaml.safe_dump_all(SEEDS)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(STRANGE | st.text(max_size=3)) + text[at + draw(st.integers(0, 20)) :]
    return text


def reported(file: Path, content: bytes) -> Report:
    """Check a file, write the report in every form, and make sure that no rule failed on it."""
    file.write_bytes(content)
    report = check([str(file)], Target(gangs=frozenset({"kueue", "volcano"})))
    for form in Format:
        written = io.StringIO()
        write(report, form, written)
        assert written.getvalue().isprintable() or "\n" in written.getvalue()
        if form in {Format.JSON, Format.SARIF}:
            json.loads(written.getvalue())
    failed = [problem for problem in report.problems if "that the rule cannot judge" in problem.found]
    assert failed == []
    return report


FUZZ = settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@FUZZ
@given(mutated_objects())
def test_any_structure_is_judged(file: Path, objects: list[dict[str, Any]]) -> None:
    text = json.dumps({"kind": "List", "items": objects})
    assert reported(file, text.encode()).exit_code is not None


@FUZZ
@given(mutated_texts())
def test_any_text_is_read(file: Path, text: str) -> None:
    reported(file, text.encode(errors="replace"))


@FUZZ
@given(st.binary(max_size=200) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read(file: Path, content: bytes) -> None:
    reported(file, content)
