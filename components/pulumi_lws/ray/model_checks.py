"""Whether the model of a Ray service fits its workers, and whether they get and start it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pulumi_lws.facts.models import ModelArchitecture
from pulumi_lws.facts.vllm_flags import version_of
from pulumi_lws.planning.architectures import architecture_of
from pulumi_lws.planning.memory import context_problems, memory_problems
from pulumi_lws.planning.problems import Problem, Severity, errors_of
from pulumi_lws.planning.split import split_problems
from pulumi_lws.planning.times import budget_problems
from pulumi_lws.ray.deciding import Decided, ray_of
from pulumi_lws.ray.serve import argument_of
from pulumi_lws.ray.settings import RayServiceVllmArgs
from pulumi_lws.ray.sizing import memory_conditions, start_of
from pulumi_lws.serving.engines.vllm_arguments import argument_problems
from pulumi_lws.serving.sources.checks import loading_problems
from pulumi_lws.serving.sources.settings import S3Source

_STREAMING_BROKEN = ((2, 57), (2, 58))
"""Versions of Ray that forget the address of a bucket when they stream from it, and ask the hub for the model instead.
https://github.com/ray-project/ray/issues/65477"""

_OVERRIDES, _LONGER = "hf_overrides", "VLLM_ALLOW_LONG_MAX_MODEL_LEN"
"""What may stretch a model's context, and the variable that lets it be exceeded."""

_WITHOUT_EFA = "rayproject/ray"
"""Repository of images without EFA's libfabric."""


def model_problems(decided: Decided, args: RayServiceVllmArgs) -> list[Problem]:
    """Return what is wrong with the model on its workers. Paths start at the declaration."""
    architecture = architecture_of(args.architecture, args.model)
    if isinstance(architecture, Problem):
        return [architecture]
    split = list(_data(args)) or split_problems(architecture, args.parallelism, decided.pool.instance)
    problems = [*split, *_arguments(decided, args), *_source(decided, args), *_image(decided)]
    if errors_of(split):
        return problems
    if architecture is not None:
        problems += _sizes(decided, args, architecture)
    return problems


def _data(args: RayServiceVllmArgs) -> Iterator[Problem]:
    if args.parallelism.data > 1:
        yield Problem(
            "parallelism.data",
            str(args.parallelism.data),
            "1: data ranks of Ray Serve are an application of another kind",
            "Set it to 1 and raise minCopies, or declare kind multi-node-vllm.",
        )


def _arguments(decided: Decided, args: RayServiceVllmArgs) -> Iterator[Problem]:
    """Judge engine arguments as the flags that they are: flag ``n`` is argument ``n``."""
    names = list(args.engine_arguments)
    words = tuple(_flag(name, value) for name, value in args.engine_arguments.items())
    launch = replace(decided.launch, extra_arguments=words)
    for problem in argument_problems(launch, version_of(decided.vllm_version)):
        position = int(problem.path.removeprefix("extraArguments[").removesuffix("]"))
        yield replace(
            problem,
            path=f"engineArguments.{names[position]}",
            found=_as_argument(problem.found),
            allowed=problem.allowed.replace("a flag", "an argument"),
            fix=_as_argument(problem.fix),
        )


def _as_argument(text: str) -> str:
    """Return a text with arguments in the place of the flags that set them."""
    return re.sub(r"--(?:no-)?[a-z][-a-z0-9]*", lambda flag: argument_of(flag[0]).removeprefix("no_"), text)


def _flag(name: str, value: Any) -> str:
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{flag}" if value else f"--no-{flag}"
    return f"--{flag}={value}"


def _source(decided: Decided, args: RayServiceVllmArgs) -> Iterator[Problem]:
    if isinstance(args.source, S3Source) and ray_of(decided) in _STREAMING_BROKEN:
        yield Problem(
            "source.kind",
            f"'s3', with Ray {decided.ray_version}",
            "volume, node or hugging-face: Ray 2.57 and 2.58 ask the hub for the model instead of the bucket",
            "Set source.kind to volume, or image to one with Ray 2.59 or newer, with rayVersion and vllmVersion.",
        )


def _image(decided: Decided) -> Iterator[Problem]:
    if decided.spans_nodes and decided.launch.has_efa and _WITHOUT_EFA in decided.image:
        yield Problem(
            "image",
            decided.image,
            "an image with EFA's libfabric: without it workers talk over TCP, many times slower",
            "Leave it out, or make sure that yours has it.",
            Severity.WARNING,
        )


def _sizes(decided: Decided, args: RayServiceVllmArgs, architecture: ModelArchitecture) -> Iterator[Problem]:
    instance = decided.pool.instance
    if not {_OVERRIDES, _LONGER} & {*args.engine_arguments, *args.environment}:
        extension = f"extend it with environment.{_LONGER}"
        yield from context_problems(architecture, args.max_model_len, extension)
    yield from memory_problems(
        architecture, args.parallelism, **memory_conditions(decided, args), gpus_per_node=instance.gpus
    )
    yield from loading_problems(
        args.source,
        args.model,
        "vllm",
        nodes=decided.most,
        weight_bytes=architecture.weight_bytes,
        instance=instance,
    )
    yield from budget_problems(start_of(decided, args, architecture), "")
