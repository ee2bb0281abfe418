"""Stack files for tests: the examples with changes, what is said of them, and the pods that they become."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from lab.examples import EXAMPLES, settings_of, variants
from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem
from pulumi_lws.platform.checks import deployments_of, read
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.deciding import roles_of
from pulumi_lws.serving.pods import ENGINE_CONTAINER
from pulumi_lws.serving.render import render
from pulumi_lws.serving.roles import Role

_EXAMPLES = {path.stem: settings_of(path) for path in EXAMPLES}

PACKED = "gpt-oss-120b-disaggregated"
"""Both roles on one pool, several pods to a node."""


def stack(example: str, *, name: str = "", pools: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Return the stack file of an example with changes.

    Args:
        example: Its name.
        name: Another name for the deployment.
        pools: What is different of its pool ``p5``, or further pools.
        changes: What is different of its deployment; of prefill and decode, what is different there.
    """
    settings = copy.deepcopy(_EXAMPLES[example])
    ((own_name, deployment),) = settings["deployments"].items()
    for key, value in changes.items():
        merged = key in {"prefill", "decode"} and key in deployment
        deployment[key] = {**deployment[key], **value} if merged else value
    for pool, fields in (pools or {}).items():
        settings["pools"][pool] = {**settings["pools"].get(pool, {}), **fields}
    settings["deployments"] = {name or own_name: deployment}
    return settings


def said(settings: Mapping[str, Any]) -> list[str]:
    """Return every problem of a stack file in words, with its severity before it."""
    return [in_words(problem) for problem in read(settings)[1]]


def in_words(problem: Problem) -> str:
    return f"{problem.severity}: {problem}"


@dataclass(frozen=True)
class Broken:
    """A declaration that cannot work.

    Attributes:
        example: The example that it is made from.
        wrong: What is different.
        said: All that is said of it.
        right: What is different of one that passes.
    """

    example: str
    wrong: dict[str, Any]
    said: list[str]
    right: dict[str, Any] = field(default_factory=dict)

    def answers(self) -> list[str]:
        return said(stack(self.example, **self.wrong))

    def answers_once_mended(self) -> list[str]:
        return said(stack(self.example, **self.right))


def broken(name: str) -> dict[str, Broken]:
    """Return the declarations of a file of the folder ``broken``."""
    text = (Path(__file__).parent / "broken" / f"{name}.yaml").read_text(encoding="utf-8")
    return {key: Broken(**fields) for key, fields in yaml.safe_load(text).items()}


@dataclass(frozen=True)
class Pod:
    """A pod as it is rendered, with the role that it is of."""

    role: Role
    position: str
    size: int
    labels: Mapping[str, str]
    spec: Mapping[str, Any]
    workload: Mapping[str, Any]

    @cached_property
    def engine(self) -> Mapping[str, Any]:
        (found,) = [container for container in self.spec["containers"] if container["name"] == ENGINE_CONTAINER]
        return dict(found)

    @cached_property
    def command(self) -> list[str]:
        return list(self.engine["command"])

    @cached_property
    def environment(self) -> dict[str, Any]:
        return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in self.engine["env"]}

    @property
    def gpus(self) -> int:
        return int(self.engine["resources"]["limits"][labels.GPU])

    @property
    def efa(self) -> int:
        return int(self.engine["resources"]["limits"].get(labels.EFA, 0))

    @property
    def serves(self) -> bool:
        return self.position == "leader" or self.role.behaviour.serves == "every_pod"

    def option(self, flag: str, default: str = "") -> str:
        return self.command[self.command.index(flag) + 1] if flag in self.command else default


def pods_of(settings: Mapping[str, Any]) -> list[Pod]:
    """Return the pods with an engine that a stack file becomes, one for each template."""
    found: list[Pod] = []
    for args in deployments_of(PlatformArgs.model_validate(settings)).values():
        roles = {role.name: role for role in roles_of(args)[0]}
        for manifest in render(args).manifests.values():
            for position, size, template, workload in _templates(manifest):
                own = template["metadata"]["labels"]
                if labels.ROLE in own:
                    found.append(Pod(roles[own[labels.ROLE]], position, size, own, template["spec"], workload))
    return found


def _templates(manifest: Mapping[str, Any]) -> Iterator[tuple[str, int, Any, Any]]:
    """Yield position, size of the group, template and spec of the workload."""
    spec = manifest.get("spec", {})
    if manifest["kind"] == "Deployment":
        yield "leader", 1, spec["template"], spec
    workloads = {
        "LeaderWorkerSet": [spec],
        "DisaggregatedSet": [role["spec"] for role in spec.get("roles", ())],
    }.get(manifest["kind"], [])
    for workload in workloads:
        group = workload["leaderWorkerTemplate"]
        if "leaderTemplate" in group:
            yield "leader", group["size"], group["leaderTemplate"], workload
            yield "worker", group["size"], group["workerTemplate"], workload
        else:
            yield "leader", group["size"], group["workerTemplate"], workload


def manifests_of(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every object that a stack file becomes."""
    deployments = deployments_of(PlatformArgs.model_validate(settings)).values()
    return [manifest for args in deployments for manifest in render(args).manifests.values()]


@cache
def every_stack() -> Mapping[str, dict[str, Any]]:
    """Return each example, each of its variants, and what else may be declared."""
    experts = {"tensor": 4, "data": 4, "expert": True}
    own = {
        "kind": "custom",
        "leaderCommand": ["serve", "--address", "$(POD_IP)"],
        "workerCommand": ["join", "$(LWS_LEADER_ADDRESS)"],
        "rendezvousPort": 50052,
    }
    return {
        **{variant.name: variant.settings for variant in variants()},
        "several data ranks in each pod": stack(
            "glm-5", parallelism=experts, pools={"p5": {"instanceType": "p5en.48xlarge"}}
        ),
        "one data rank in each pod": stack("glm-5", parallelism={"tensor": 8, "data": 2, "expert": True}),
        "an engine of the user": stack("glm-5", engine=own, image="registry.example.com/own:1.0"),
        "the network of the node": stack("glm-5", hostNetwork="enp71s0", network=None),
        "a node's disks and no cache": stack("llama-3.1-405b", compileCache={"kind": "none"}, privileges="privileged"),
        "an older LWS": stack("glm-5", lwsVersion="0.8.0", surge=0),
        "no EFA": stack("glm-5", pools={"p5": {"efa": "none"}}),
    }


@cache
def every_pod() -> list[Pod]:
    """Return the pods of each of them."""
    return [pod for settings in every_stack().values() for pod in pods_of(settings)]


def all_pods(holds: Callable[[Pod], bool], of: Callable[[Pod], bool] = lambda _: True) -> bool:
    """Tell whether something holds of all pods of a kind, of which there are some."""
    pods = [pod for pod in every_pod() if of(pod)]
    assert pods
    assert [f"{pod.role.workload} {pod.position}" for pod in pods if not holds(pod)] == []
    return True


def runs_vllm(pod: Pod) -> bool:
    return pod.role.engine_kind == "vllm"


def spans_pods(pod: Pod) -> bool:
    return pod.size > 1


def transfers(pod: Pod) -> bool:
    return pod.role.name != "serve"


def over_efa(pod: Pod) -> bool:
    return pod.role.launch.has_efa and (spans_pods(pod) or transfers(pod))
