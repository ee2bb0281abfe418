"""What is refused of load tests, and what is warned of."""

from typing import Any

import pytest

from pulumi_lws.load_tests.checks import load_test_problems
from pulumi_lws.planning.problems import Problem, Severity
from tests.load_tests.tested import glm, gpt_oss, load_test

S3 = {"kind": "s3", "uri": "s3://bucket/glm"}
ROUTER = {"kind": "gateway", "gateway": "inference"}
ONE_KEY = {"pulumi-lws/load-test": "chat"}
MOST = 49


def said(deployment: Any, **changes: Any) -> list[Problem]:
    test = load_test(deployment=deployment.name, **changes)
    return load_test_problems({"chat": test}, {deployment.name: deployment})


def at_once(requests: int) -> dict[str, Any]:
    return {"kind": "concurrent", "requests": [1, requests]}


@pytest.mark.parametrize("deployment", [glm(), gpt_oss()], ids=lambda deployment: deployment.name)
def test_a_sound_test_has_no_problem(deployment: Any) -> None:
    assert said(deployment) == []


def test_a_test_names_a_deployment_of_the_stack() -> None:
    assert load_test_problems({"chat": load_test(deployment="glm")}, {"glm-5": glm(), "gpt-oss": gpt_oss()}) == [
        Problem(
            "loadTests.chat.deployment",
            "glm",
            "glm-5, gpt-oss",
            "Name a deployment of this stack, or declare it under deployments.",
        )
    ]


WRONG = {
    "no replicas": (
        glm(replicas=0),
        {},
        Problem(
            "loadTests.chat.deployment",
            "glm-5, with 0 replicas",
            "a deployment with replicas: none would answer",
            "Set its replicas to 1 or more.",
        ),
    ),
    "an update that does not wait": (
        glm(wait="none"),
        {},
        Problem(
            "loadTests.chat.deployment",
            "glm-5, whose update waits for nothing",
            "a deployment that serves before the test starts: it does not try again",
            "Set deployments.glm-5.wait to serving.",
        ),
    ),
    "an address that only the Gateway knows": (
        gpt_oss(router=ROUTER),
        {},
        Problem(
            "loadTests.chat.url",
            "nothing",
            "an address: only the Gateway of gpt-oss knows its own",
            "Set url, or name a host in deployments.gpt-oss.router.hostnames.",
        ),
    ),
    "a router that does not open what a test asks for": (
        gpt_oss(router={"kind": "standalone", "apis": ["chat", "models"]}),
        {},
        Problem(
            "loadTests.chat.deployment",
            "gpt-oss, whose router opens chat, models",
            "a router that opens completions and models: a test asks for both",
            "Add completions to deployments.gpt-oss.router.apis, or set url.",
        ),
    ),
    "a model of the image": (
        glm(model="/opt/glm", architecture="zai-org/GLM-5-FP8"),
        {},
        Problem(
            "loadTests.chat.tokenizer",
            "nothing",
            "a Hugging Face id: /opt/glm is a folder of the engine's image, which the test does not run in",
            "Set tokenizer to the id of the model, or tokenizerClaim.",
        ),
    ),
    "requests longer than the context": (
        glm(maxModelLen=9015),
        {},
        Problem(
            "loadTests.chat.inputTokens",
            "8000, with outputTokens of 1000",
            "at most 8999 together: glm-5 takes 9015, and a prompt may grow by 16 on its way",
            "Set inputTokens to 7999, or raise deployments.glm-5.maxModelLen.",
        ),
    ),
    "answers longer than the context": (
        glm(maxModelLen=1000),
        {},
        Problem(
            "loadTests.chat.inputTokens",
            "8000, with outputTokens of 1000",
            "at most 984 together: glm-5 takes 1000, and a prompt may grow by 16 on its way",
            "Set outputTokens below 984, or raise deployments.glm-5.maxModelLen.",
        ),
    ),
    "a policy that lets others in": (
        glm(network={"clients": [{"namespace": "edge"}, {"podLabels": {"app": "gateway"}}]}),
        {},
        Problem(
            "loadTests.chat.deployment",
            "glm-5, whose network.clients do not let the test in",
            "a client of its own namespace without podLabels, or with pulumi-lws/load-test: chat",
            "Add {podLabels: {pulumi-lws/load-test: chat}} to deployments.glm-5.network.clients.",
        ),
    ),
    "more requests than the cache holds": (
        glm(),
        {"load": at_once(MOST + 1)},
        Problem(
            "loadTests.chat.load.requests[1]",
            f"{MOST + 1} requests of 9,000 tokens at a time",
            f"at most {MOST}: what the KV cache of 1 copy holds by the plan; of the rest TTFT measures the queue",
            f"Lower it to {MOST}, or keep it to see what happens beyond.",
            Severity.WARNING,
        ),
    ),
    "a number of copies that changes": (
        glm(autoscaling={"maxReplicas": 2}),
        {},
        Problem(
            "loadTests.chat.deployment",
            "glm-5, with an autoscaler",
            "a fixed number of copies: throughput per GPU is counted with replicas",
            "Remove autoscaling for the time of the test, or do not compare its throughput per GPU.",
            Severity.WARNING,
        ),
    ),
}


@pytest.mark.parametrize(("deployment", "changes", "problem"), WRONG.values(), ids=WRONG)
def test_a_wrong_test_is_answered_once(deployment: Any, changes: dict[str, Any], problem: Problem) -> None:
    assert said(deployment, **changes) == [problem]


RIGHT = {
    "replicas": (glm(replicas=1), {}),
    "a queue, and an update that waits": (glm(queue="models", wait="serving"), {}),
    "a Gateway with a host": (gpt_oss(router={**ROUTER, "hostnames": ["llm.example.com"]}), {}),
    "a Gateway, and an address": (gpt_oss(router=ROUTER), {"url": "https://llm.example.com/v1"}),
    "a router that opens little, and an address": (
        gpt_oss(router={"kind": "standalone", "apis": ["chat"]}),
        {"url": "https://llm.example.com/v1"},
    ),
    "a model of the image, and a tokenizer": (
        glm(model="/opt/glm", architecture="zai-org/GLM-5-FP8"),
        {"tokenizer": "zai-org/GLM-5-FP8"},
    ),
    "a context that is just enough": (glm(maxModelLen=9016), {}),
    "a policy that names the test": (
        glm(network={"clients": [{"namespace": "edge"}, {"podLabels": ONE_KEY}]}),
        {},
    ),
    "a policy that names its namespace": (glm(network={"clients": [{"namespace": "models"}]}), {}),
    "no policy": (glm(network=None), {}),
    "a policy, and another address": (
        glm(network={"clients": [{"namespace": "edge"}]}),
        {"url": "https://llm.example.com/v1"},
    ),
    "as many requests as the cache holds": (glm(), {"load": at_once(MOST)}),
    "as many as two copies hold": (glm(replicas=2), {"load": at_once(2 * MOST)}),
    "a rate": (glm(), {"load": {"kind": "arriving", "perSecond": [10_000]}}),
    "a model that nobody knows": (glm(model="my/model"), {"load": at_once(10_000)}),
}


@pytest.mark.parametrize(("deployment", "changes"), RIGHT.values(), ids=RIGHT)
def test_at_the_bound_nothing_is_said(deployment: Any, changes: dict[str, Any]) -> None:
    assert said(deployment, **changes) == []


def test_a_deployment_in_a_queue_need_not_serve_when_the_test_starts() -> None:
    (problem,) = said(glm(queue="models"))
    assert problem.fix == "Set deployments.glm-5.wait to serving."
