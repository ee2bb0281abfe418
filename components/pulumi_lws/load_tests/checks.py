"""What keeps load tests from running, or from measuring what they are for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pulumi_lws.facts import labels
from pulumi_lws.load_tests.scenario import ASKED
from pulumi_lws.load_tests.settings import ConcurrentLoad, LoadTestSettings
from pulumi_lws.load_tests.target import tokenizer_of, url_of
from pulumi_lws.planning.counting import counted
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.roles import Role
from pulumi_lws.serving.settings import Client, DeploymentArgs, DisaggregatedVllmArgs, roles_settings
from pulumi_lws.serving.sizing import memory_of

_ADDED_TOKENS = 16
"""What a prompt may be longer than asked for: it is cut in tokens, sent as text, and a first token is put before it."""


def load_test_problems(
    tests: Mapping[str, LoadTestSettings], deployments: Mapping[str, DeploymentArgs]
) -> list[Problem]:
    """Return what is wrong with load tests; paths start at the stack: ``loadTests.<name>``.

    Args:
        tests: Load tests by name.
        deployments: The deployments of the stack by name, without problems of their own.
    """
    problems: list[Problem] = []
    for name, test in tests.items():
        args = deployments.get(test.deployment)
        if args is None:
            allowed = ", ".join(deployments) or "none is declared"
            fix = "Name a deployment of this stack, or declare it under deployments."
            found = [Problem("deployment", test.deployment, allowed, fix)]
        elif not roles_of(args)[0]:
            # Its pool could not be read, which is said there.
            found = []
        else:
            found = one_load_test_problems(name, test, args)
        problems += [problem.below(f"loadTests.{name}") for problem in found]
    return problems


def one_load_test_problems(name: str, test: LoadTestSettings, args: DeploymentArgs) -> list[Problem]:
    """Return what is wrong with one load test; paths start at its settings."""
    answering = roles_of(args)[0][-1]
    return [
        *_never_answers(test, args),
        *_address(test, args),
        *_opened(test, args),
        *_tokenizer(test, args),
        *(_lengths(test, answering) or _cache(test, answering)),
        *_refused(name, test, args),
        *_copies(test, args),
    ]


def _never_answers(test: LoadTestSettings, args: DeploymentArgs) -> Iterator[Problem]:
    """Judge deployments that need not serve when the test starts: it tries once."""
    for role in roles_settings(args).values():
        if not role.replicas:
            allowed = "a deployment with replicas: none would answer"
            yield Problem(
                "deployment", f"{test.deployment}, with 0 replicas", allowed, "Set its replicas to 1 or more."
            )
    if args.wait == "none" or (args.queue and args.wait is None):
        yield Problem(
            "deployment",
            f"{test.deployment}, whose update waits for nothing",
            "a deployment that serves before the test starts: it does not try again",
            f"Set deployments.{test.deployment}.wait to serving.",
        )


def _address(test: LoadTestSettings, args: DeploymentArgs) -> Iterator[Problem]:
    if not url_of(test, args):
        allowed = f"an address: only the Gateway of {test.deployment} knows its own"
        fix = f"Set url, or name a host in deployments.{test.deployment}.router.hostnames."
        yield Problem("url", "nothing", allowed, fix)


def _opened(test: LoadTestSettings, args: DeploymentArgs) -> Iterator[Problem]:
    """Judge routers that do not open what a test asks for."""
    router = args.router if isinstance(args, DisaggregatedVllmArgs) and not test.url else None
    if router and (closed := [api for api in ASKED if api not in router.apis]):
        yield Problem(
            "deployment",
            f"{test.deployment}, whose router opens {', '.join(router.apis)}",
            f"a router that opens {' and '.join(ASKED)}: a test asks for both",
            f"Add {' and '.join(closed)} to deployments.{test.deployment}.router.apis, or set url.",
        )


def _tokenizer(test: LoadTestSettings, args: DeploymentArgs) -> Iterator[Problem]:
    if not tokenizer_of(test, args).name:
        allowed = f"a Hugging Face id: {args.model} is a folder of the engine's image, which the test does not run in"
        yield Problem("tokenizer", "nothing", allowed, "Set tokenizer to the id of the model, or tokenizerClaim.")


def _lengths(test: LoadTestSettings, role: Role) -> list[Problem]:
    architecture = role.architecture
    context = role.deployment.max_model_len or (architecture.max_positions if architecture else None)
    tokens = test.input_tokens + test.output_tokens
    most = context - _ADDED_TOKENS if context else tokens
    if not context or tokens <= most:
        return []
    left = most - test.output_tokens
    fix = f"Set inputTokens to {left}" if left > 0 else f"Set outputTokens below {most}"
    return [
        Problem(
            "inputTokens",
            f"{test.input_tokens}, with outputTokens of {test.output_tokens}",
            f"at most {most} together: {test.deployment} takes {context}, and a prompt may grow by {_ADDED_TOKENS} on"
            " its way",
            f"{fix}, or raise deployments.{test.deployment}.maxModelLen.",
        )
    ]


def _refused(name: str, test: LoadTestSettings, args: DeploymentArgs) -> Iterator[Problem]:
    """Judge whether the policy of the deployment lets the test in; what stands before a url is not known."""
    access = args.network
    if test.url or access is None or args.host_network or any(_admits(client, name, args) for client in access.clients):
        return
    yield Problem(
        "deployment",
        f"{test.deployment}, whose network.clients do not let the test in",
        f"a client of its own namespace without podLabels, or with {labels.LOAD_TEST}: {name}",
        f"Add {{podLabels: {{{labels.LOAD_TEST}: {name}}}}} to deployments.{test.deployment}.network.clients.",
    )


def _admits(client: Client, name: str, args: DeploymentArgs) -> bool:
    is_here = client.namespace in {None, args.namespace}
    return is_here and client.pod_labels.items() <= {labels.LOAD_TEST: name}.items()


def _cache(test: LoadTestSettings, role: Role) -> Iterator[Problem]:
    """Judge whether all requests of a step have a place in the KV cache."""
    tokens = test.input_tokens + test.output_tokens
    sized = replace(role, deployment=role.deployment.model_copy(update={"max_model_len": tokens}))
    memory = memory_of(sized)
    if memory is None or not role.settings.replicas or not isinstance(test.load, ConcurrentLoad):
        return
    most = int(memory.max_concurrency * role.settings.replicas)
    for index, requests in enumerate(test.load.requests):
        if requests > most:
            copies = counted(role.settings.replicas, "copy", "copies")
            yield Problem(
                f"load.requests[{index}]",
                f"{counted(requests, 'request')} of {tokens:,} tokens at a time",
                f"at most {most}: what the KV cache of {copies} holds by the plan; of the rest TTFT measures the queue",
                f"Lower it to {most}, or keep it to see what happens beyond.",
                Severity.WARNING,
            )


def _copies(test: LoadTestSettings, args: DeploymentArgs) -> Iterator[Problem]:
    if any(role.autoscaling for role in roles_settings(args).values()):
        yield Problem(
            "deployment",
            f"{test.deployment}, with an autoscaler",
            "a fixed number of copies: throughput per GPU is counted with replicas",
            "Remove autoscaling for the time of the test, or do not compare its throughput per GPU.",
            Severity.WARNING,
        )
