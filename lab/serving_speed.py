"""How fast a stack file is read, checked and rendered: a thousand deployments, and whether the time grows linearly."""

import time
from typing import Any

from lab.examples import EXAMPLES, settings_of
from pulumi_lws.planning.problems import errors_of
from pulumi_lws.platform.checks import deployments_of, read
from pulumi_lws.serving.render import render

DEPLOYMENTS = 1000
LONGEST_SECONDS = 3.0
LARGEST_GROWTH = 11.0
"""Ten times the deployments may take at most this many times as long."""


def measure() -> list[str]:
    """Return a line for each figure, with what is wanted."""
    few, many = (_seconds(count) for count in (DEPLOYMENTS // 10, DEPLOYMENTS))
    return [
        f"checking and rendering {DEPLOYMENTS} deployments {many:.2f} s, at most {LONGEST_SECONDS} wanted",
        f"that is {many / few:.1f} times as long as for a tenth of them, at most {LARGEST_GROWTH} wanted",
    ]


def stack(count: int) -> dict[str, Any]:
    """Return the platform of a stack file with so many deployments: the examples, over and over."""
    examples = [settings_of(example) for example in EXAMPLES]
    pools: dict[str, Any] = {}
    deployments: dict[str, Any] = {}
    for number in range(count):
        example = examples[number % len(examples)]
        [(name, deployment)] = example["deployments"].items()
        deployments[f"{name}-{number}"] = deployment
        [(pool, settings)] = example["pools"].items()
        kind = f"{pool}-{'islands' if 'islands' in settings else 'nodes'}"
        roles = [deployment, deployment.get("prefill", {}), deployment.get("decode", {})]
        for role in roles:
            if "pool" in role:
                role["pool"] = kind
        field = "islands" if "islands" in settings else "nodes"
        total = pools.setdefault(kind, {**settings, field: 0})
        total[field] += settings[field]
    return {**examples[0], "pools": pools, "deployments": deployments}


def _seconds(count: int) -> float:
    """Return how long it takes: the best of three, since the machine's own noise only ever adds."""
    return min(_timed(stack(count)) for _ in range(3))


def _timed(raw: dict[str, Any]) -> float:
    began = time.monotonic()
    platform, problems = read(raw)
    if platform is None or errors_of(problems):
        raise AssertionError([str(problem) for problem in problems])
    for args in deployments_of(platform).values():
        render(args)
    return time.monotonic() - began
