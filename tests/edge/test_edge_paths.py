"""Nothing of an engine is reached through a gateway but what clients may ask of it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulumi_lws.edge.manifests import edge_objects
from pulumi_lws.facts.api_paths import APIS, DEFAULT_APIS
from tests.edge.gateways import SHAPES, args

PATHS = Path(__file__).parent / "engine_paths"

VLLM = (PATHS / "vllm.txt").read_text(encoding="utf-8").split()
"""Paths of vLLM 0.33 that no client may reach, switched off by default or not."""

SGLANG = (PATHS / "sglang.txt").read_text(encoding="utf-8").split()
"""The same of SGLang 0.5."""

METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]


def reached(route: dict[str, Any], method: str, path: str, headers: dict[str, str]) -> list[str]:
    """Return the paths at the engine that a request reaches, as the Gateway API says."""
    found = []
    for rule in route["spec"]["rules"]:
        for match in rule["matches"]:
            assert match["path"]["type"] == "Exact"
            wanted = {header["name"]: header["value"] for header in match.get("headers", [])}
            if (match["method"], match["path"]["value"]) == (method, path) and wanted.items() <= headers.items():
                rewrites = [one["urlRewrite"]["path"] for one in rule.get("filters", []) if one["type"] == "URLRewrite"]
                found.append(rewrites[0]["replaceFullPath"] if rewrites else path)
    return found


def routes(**changes: Any) -> list[dict[str, Any]]:
    return [one for one in edge_objects(args(**changes)).values() if one["kind"] == "HTTPRoute"]


def all_apis(shape: str) -> dict[str, Any]:
    """Return a gateway with every API open."""
    changes = SHAPES[shape]
    declared = changes.get("routes", {"glm": {"deployment": "glm-5"}})
    return {**changes, "routes": {key: {**route, "apis": list(APIS)} for key, route in declared.items()}}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_changes_or_shows_an_engine_is_never_reached(shape: str) -> None:
    opened = [
        (method, path)
        for route in routes(**all_apis(shape))
        for path in {*VLLM, *SGLANG}
        for method in METHODS
        for prefix in ("", "/team-a/glm")
        if reached(route, method, f"{prefix}{path}", {"x-model": "zai-org/GLM-5-FP8"})
    ]
    assert opened == []


@pytest.mark.parametrize("shape", SHAPES)
def test_each_api_is_reached_by_its_method_alone(shape: str) -> None:
    for route, declared in zip(routes(**all_apis(shape)), args(**all_apis(shape)).routes.values(), strict=True):
        headers = {"x-model": declared.model or ""}
        for api in APIS.values():
            found = {method: reached(route, method, f"{declared.path_prefix}{api.path}", headers) for method in METHODS}
            assert {method: paths for method, paths in found.items() if paths} == {api.method: [api.path]}


@given(st.sampled_from(sorted(SHAPES)), st.text("/v1.%2fchatompleinsd_-AZ", max_size=40), st.sampled_from(METHODS))
def test_a_request_reaches_a_path_of_the_table_or_nothing(shape: str, path: str, method: str) -> None:
    allowed = {api.path for api in APIS.values()}
    for route in routes(**all_apis(shape)):
        assert set(reached(route, method, path, {"x-model": "openai/gpt-oss-120b"})) <= allowed


def test_a_model_must_be_named_where_the_route_says_so() -> None:
    (route,) = routes(routes={"glm": {"deployment": "glm-5", "model": "glm"}})
    assert reached(route, "POST", "/v1/chat/completions", {}) == []
    assert reached(route, "POST", "/v1/chat/completions", {"x-model": "other"}) == []
    assert reached(route, "POST", "/v1/chat/completions", {"x-model": "glm"}) == ["/v1/chat/completions"]


def test_the_table_fits_the_rules_of_one_route() -> None:
    # A prefix makes a rule of each; the Gateway API takes 16.
    assert len(APIS) <= 16
    assert set(DEFAULT_APIS) <= set(APIS)
    assert len({(api.path, api.method) for api in APIS.values()}) == len(APIS)
