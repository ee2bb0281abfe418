"""A comment that a forge takes, that acts on nothing, and that tells no secret."""

import json
from pathlib import Path
from typing import Any

import pytest

from pulumi_lws.reporting.formats import json as as_json
from pulumi_lws.reporting.formats import md
from pulumi_lws.reporting.formats.wording import code, prose
from pulumi_lws.reporting.reading import read_preview
from pulumi_lws.reporting.report import Report, report
from tests.reporting.events import (
    DEPLOYMENT,
    LWS,
    URN,
    complaint,
    deployment,
    groups,
    pod,
    resource_event,
    violation,
    write,
)

SIGNATURE = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}


def of(folder: Path, *events: dict[str, Any]) -> Report:
    return report(read_preview(write(folder, *events)))


def every_form(found: Report) -> str:
    return md.render(found) + as_json.render(found)


def large(count: int) -> list[dict[str, Any]]:
    events = [
        resource_event("update", LWS, f"llm-{n}", groups(pod(image="a:1")), groups(pod(image="a:2")))
        for n in range(count)
    ]
    events += [violation(f"policy-{n}", "advisory", "word " * 300, f"urn::x::{n}") for n in range(count)]
    return [*events, *(complaint("warning", f"{n} " + "line\n" * 400) for n in range(count))]


@pytest.mark.parametrize("longest", [65_536, 20_000, 4_000])
def test_a_report_is_never_longer_than_the_forge_takes(longest: int, tmp_path: Path) -> None:
    text = md.render(of(tmp_path, *large(400)), longest)
    assert len(text) <= longest
    assert len(text) > longest // 3
    assert "more\n" in text
    assert text.count("<details") == text.count("</details>") == 4
    assert text.startswith("<!-- lws report: shop/prod -->\n### 🟡 ")


SECRET = "correct-horse-battery"


def secrets() -> list[dict[str, Any]]:
    def template(token: Any) -> dict[str, Any]:
        made = pod(image="a:1")
        made["spec"]["containers"][0] |= {
            "env": [{"name": "HF_TOKEN", "value": token}],
            "args": ["--api-key", token, f"--password={token}"],
        }
        return made

    hidden = {**SIGNATURE, "plaintext": f'"{SECRET}"'}
    sealed = {**SIGNATURE, "ciphertext": f"v1:{SECRET}"}
    secret = {"metadata": {"name": "s"}, "stringData": {"a": hidden, "b": sealed}}
    return [
        resource_event("update", LWS, "llm", groups(template(f"{SECRET}1")), groups(template(f"{SECRET}2"))),
        resource_event("update", DEPLOYMENT, "web", deployment(template("x")), deployment(template(hidden))),
        resource_event("update", "kubernetes:core/v1:Secret", "s", {"metadata": {"name": "s"}}, secret),
        resource_event("update", "pulumi:providers:kubernetes", "k", {"kubeconfig": "a"}, {"kubeconfig": SECRET}),
        violation("p", "mandatory", f"found {SECRET}; allowed nothing"),
        complaint("warning", f"cannot log in with {SECRET} or hf_{'a' * 20}"),
    ]


def test_no_secret_is_shown_in_any_form(tmp_path: Path) -> None:
    text = every_form(of(tmp_path, *secrets()))
    assert SECRET not in text
    assert "hf_" not in text
    assert "environment HF_TOKEN" in text
    assert "--api-key" in text


def test_a_private_key_in_a_name_is_cut_out_and_leaves_json(tmp_path: Path) -> None:
    strange = groups(pod())
    strange["metadata"]["name"] = "-----BEGIN RSA PRIVATE KEY-----\nMIIE"
    found = of(tmp_path, resource_event("create", LWS, "x", None, strange))
    assert "MIIE" not in every_form(found)
    assert json.loads(as_json.render(found))["models"][0]["name"] == "text (not shown)"


def test_names_and_messages_act_on_nothing(tmp_path: Path) -> None:
    name = "x` | <img src=y> @team\n# head"
    message = "tell @team of #12 <script>alert(1)</script> | a [link](x) `code` *bold*\n### more"
    strange = groups(pod())
    strange["metadata"]["name"] = name
    text = md.render(
        of(tmp_path, resource_event("create", LWS, "x", None, strange), violation("p", "advisory", message))
    )
    assert "\n# head" not in text
    assert "<script" not in text.replace("\\<script", "")
    assert "### more" not in text.replace("\\#", "").splitlines()
    assert "`` x` ¦ <img src=y> @team\\n# head ``" in text


WORDS = {
    "plain": "`plain`",
    "a|b": "`a¦b`",
    "a`b": "`` a`b ``",
    "": "`?`",
    "x" * 200: f"`{'x' * 159}…`",
}


@pytest.mark.parametrize("text", WORDS)
def test_code_is_one_piece_of_code(text: str) -> None:
    assert code(text) == WORDS[text]


def test_prose_mentions_nobody() -> None:
    assert prose("ask @team about #7, <b>now</b>") == "ask @<!-- -->team about #<!-- -->7, \\<b\\>now\\</b\\>"


def test_a_component_and_the_object_that_it_wraps_are_one_row_and_two_resources(tmp_path: Path) -> None:
    component = "lws:index:LeaderWorkerSet"
    wrapped = resource_event("create", LWS, "llm", None, groups(pod()))
    wrapped["resourcePreEvent"]["metadata"]["new"]["parent"] = f"{URN}{component}::llm"
    stack = resource_event("create", "pulumi:pulumi:Stack", "shop-prod", None, {})
    found = of(tmp_path, stack, resource_event("create", component, "llm", None, {}), wrapped)
    text = md.render(found)
    assert "`shop/prod`: 3 created, 0 unchanged." in text
    assert "<summary>All changes: 3 resources</summary>" in text
    assert text.count("| created | `LeaderWorkerSet` | `llm` |") == 1
    assert len(json.loads(as_json.render(found))["changes"]) == 3


def test_a_component_is_a_row_where_its_object_changes_otherwise(tmp_path: Path) -> None:
    component = "lws:index:LeaderWorkerSet"
    wrapped = resource_event("replace", LWS, "llm", groups(pod(1)), groups(pod(2)))
    wrapped["resourcePreEvent"]["metadata"]["new"]["parent"] = f"{URN}{component}::llm"
    text = md.render(of(tmp_path, resource_event("update", component, "llm", {"a": 1}, {"a": 2}), wrapped))
    assert text.count("| `LeaderWorkerSet` | `llm` |") == 2


def test_a_message_with_a_fence_stays_in_its_own(tmp_path: Path) -> None:
    text = md.render(of(tmp_path, complaint("error", "```\n# out?\n```")))
    assert "  ````\n  ```\n  # out?\n  ```\n  ````" in text
