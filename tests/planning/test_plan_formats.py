import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pulumi_lws.planning.formats import json as json_format
from pulumi_lws.planning.formats import svg, text
from pulumi_lws.planning.plan import Plan, Risk
from pulumi_lws.planning.problems import Problem, Severity

SVG = "{http://www.w3.org/2000/svg}"

PICTURE = """\
p5  p5.48xlarge · 3 islands of 2 nodes, 8 H100 and 32 EFA each · 32 of 48 GPUs in use
╭ p5-0 ───────────────────╮ ╭ p5-1 ───────────────────╮ ╭ p5-2 ───────────────────╮
│ A0 ■■ ■■ ■■ ■■ ■■ ■■ ■■ │ │ A1 ■■ ■■ ■■ ■■ ■■ ■■ ■■ │ │ ·· ·· ·· ·· ·· ·· ·· ·· │
│ A0 ■■ ■■ ■■ ■■ ■■ ■■ ■■ │ │ A1 ■■ ■■ ■■ ■■ ■■ ■■ ■■ │ │ ·· ·· ·· ·· ·· ·· ·· ·· │
╰─────────────────────────╯ ╰─────────────────────────╯ ╰─────────────────────────╯

packed  p5.48xlarge · 2 nodes, 8 H100 and 32 EFA each · 8 of 16 GPUs in use
╭ node 0 ─────────────────╮ ╭ node 1 ─────────────────╮
│ B0 ■■ ■■ ■■ B1 ■■ ■■ ■■ │ │ ·· ·· ·· ·· ·· ·· ·· ·· │
╰─────────────────────────╯ ╰─────────────────────────╯
"""

ERROR = Problem("a", "b", "c", "d")

STRANGE = st.text(max_size=120)


def texts(picture: str) -> list[str]:
    return ["".join(each.itertext()) for each in ET.fromstring(picture).iter(f"{SVG}text")]  # noqa: S314 - our own


def test_the_first_line_says_the_verdict_and_what_is_in_use(plan: Plan) -> None:
    def first(plan: Plan) -> str:
        return text.plain(plan).splitlines()[0]

    assert first(plan) == "prod fits  40 of 64 GPUs in use · 1 warning · first start about 30 min"
    broken = replace(plan, problems=(ERROR, *plan.problems))
    assert first(broken) == "prod does not work  40 of 64 GPUs in use · 1 error · 1 warning · first start about 30 min"
    assert first(Plan("prod", problems=(ERROR,))) == "prod cannot be planned  1 error"
    assert first(Plan("prod")) == "prod has nothing to place"


def test_the_picture_has_a_cell_for_every_gpu(plan: Plan) -> None:
    assert PICTURE in text.plain(plan)


def test_copies_without_a_place_are_counted(plan: Plan) -> None:
    wanting = replace(plan, roles=(replace(plan.roles[0], replicas=5), plan.roles[1]))
    assert (
        "A  glm-5  5 copies of TP8 PP2 on p5: 2 nodes with 8 GPUs and 32 EFA each; 3 without a place\n"
        in text.plain(wanting)
    )


def test_free_islands_of_a_large_pool_are_only_counted(plan: Plan) -> None:
    large = replace(plan.pools[0], nodes=200, islands=100)
    drawn = text.plain(replace(plan, pools=(large, plan.pools[1])))
    assert "p5-1 ─" in drawn
    assert "p5-2 ─" not in drawn
    assert "and 98 free islands\n" in drawn
    assert "and 98 free islands" in texts(svg.render(replace(plan, pools=(large, plan.pools[1]))))


def test_a_memory_bar_shares_the_gpu_by_size_and_shows_what_lies_beyond_the_limit(plan: Plan) -> None:
    (bar,) = re.findall(r"A  glm-5.*?\n   GPU memory  (.*?)\n", text.plain(plan), re.DOTALL)
    assert {character: bar.count(character) for character in "█▓▒░·"} == {"█": 33, "▓": 16, "▒": 5, "░": 0, "·": 6}


def test_what_is_not_known_of_a_model_is_said(plan: Plan) -> None:
    unknown = replace(plan, roles=tuple(replace(role, memory=None, times=None) for role in plan.roles))
    assert "GPU memory  not checked" in text.plain(unknown)
    assert "not checked" in texts(svg.render(unknown))
    assert json_format.value_of(unknown)["deployments"][0]["memory_per_gpu_gib"] is None


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_asked_for(plan: Plan, width: int) -> None:
    assert max(len(line) for line in text.plain(plan, width).splitlines()) <= width


@given(name=STRANGE, words=STRANGE)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_strange_text_breaks_no_format(plan: Plan, name: str, words: str) -> None:
    strange = replace(
        plan,
        stack=name,
        risks=(Risk(name, words, words),),
        problems=(Problem(name, words, words, words, severity=Severity.WARNING),),
    )
    lines = text.plain(strange).splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line.isprintable() for line in lines)
    assert json.loads(json_format.render(strange))["stack"] == name
    assert ET.fromstring(svg.render(strange)).tag == f"{SVG}svg"  # noqa: S314 - our own


def test_json_has_the_keys_that_others_rely_on(plan: Plan) -> None:
    def without(value: dict[str, Any], *extra: str) -> dict[str, Any]:
        return {key: part for key, part in value.items() if key not in extra}

    value = json_format.value_of(plan)
    assert list(value) == ["stack", "applicable", "pools", "deployments", "headroom", "quota", "risks", "problems"]
    assert without(value["pools"][0], "nodes_per_island", "gpus_per_node", "efa_per_node", "used_gpus") == {
        "name": "p5",
        "instance_type": "p5.48xlarge",
        "islands": 3,
        "nodes": 6,
        "gpus": 48,
        "efa": 192,
    }
    role = value["deployments"][0]
    assert without(
        role, "pool", "max_replicas", "gpus_per_group", "gpus_per_pod", "efa_per_pod", "context", "start"
    ) == {
        "name": "glm-5",
        "role": "serve",
        "replicas": 2,
        "nodes_per_group": 2,
        "gpus": 32,
        "parallelism": {"tensor": 8, "pipeline": 2, "data": 1, "expert": False},
        "memory_per_gpu_gib": {"weights": 44.0, "kv": 21.0, "reserve": 6.0, "total": 71.0, "limit": 71.0, "gpu": 79.0},
        "kv_tokens": 900_000,
        "max_concurrency": 6.9,
        "groups": [
            {
                "index": index,
                "island": f"p5-{index}",
                "nodes": [f"p5-{index}/0", f"p5-{index}/1"],
                "pods": [{"node": f"p5-{index}/{node}", "gpus": list(range(8)), "efa": 32} for node in (0, 1)],
            }
            for index in (0, 1)
        ],
    }
    assert without(value["headroom"], "pools") == {"needed_gpus": 16, "available_gpus": 24}
    assert value["problems"] == [
        {
            "rule": "",
            "severity": "warning",
            "refused": False,
            "path": "quotas.p",
            "found": "1152",
            "allowed": "1536",
            "fix": "Raise it.",
        }
    ]


def test_pods_that_share_a_node_are_on_it_with_gpus_of_their_own(plan: Plan) -> None:
    groups = json_format.value_of(plan)["deployments"][1]["groups"]
    assert [group["pods"] for group in groups] == [
        [{"node": "packed/0", "gpus": [0, 1, 2, 3], "efa": 16}],
        [{"node": "packed/0", "gpus": [4, 5, 6, 7], "efa": 16}],
    ]
    assert [group["island"] for group in groups] == [None, None]


def test_the_svg_says_what_the_text_says_and_runs_nothing(plan: Plan) -> None:
    picture = svg.render(plan)
    root = ET.fromstring(picture)  # noqa: S314 - our own
    assert {each.tag.removeprefix(SVG) for each in root.iter()} == {"svg", "style", "rect", "path", "text"}
    assert root.attrib["aria-label"].startswith("prod fits: 40 of 64 GPUs in use")
    assert {"A0", "A1", "B0", "B1", "p5-0", "node 0", "weights 44.0"} <= set(texts(picture))
    assert "http" not in picture.replace(SVG.strip("{}"), "")


def test_the_svg_stays_within_its_frame(plan: Plan) -> None:
    root = ET.fromstring(svg.render(plan))  # noqa: S314 - our own
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for each in root.iter(f"{SVG}rect"):
        assert float(each.attrib["x"]) + float(each.attrib["width"]) <= width
        assert float(each.attrib["y"]) + float(each.attrib["height"]) <= height


def test_only_some_deployments_leave_out_other_pools_and_what_concerns_others(plan: Plan) -> None:
    other = Problem("deployments.gpt-oss.prefill.replicas", "9", "2", "Lower it.")
    shown = replace(plan, problems=(*plan.problems, other)).only(frozenset({"glm-5"}))
    assert [pool.name for pool in shown.pools] == ["p5"]
    assert [role.name for role in shown.roles] == ["glm-5"]
    assert (shown.problems, shown.headroom) == (plan.problems, plan.headroom[:1])
