"""What must divide what, for one copy of a model to be split over GPUs and nodes."""

import math
from collections.abc import Iterator, Sequence

from pulumi_lws.facts.architecture import ModelArchitecture
from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.planning.problems import Problem, Severity

_MOST_RANKS = 512
"""Numbers of ranks among which working ones are looked for: what is declared has no bound."""


def divides(architecture: ModelArchitecture | None, split: Parallelism, gpus_per_node: int) -> bool:
    """Tell whether there is nothing to say against a split, as far as divisibility goes."""
    return next(division_problems(architecture, split, gpus_per_node, "node"), None) is None


def division_problems(
    architecture: ModelArchitecture | None, split: Parallelism, gpus_per_node: int, node: str
) -> Iterator[Problem]:
    """Return what does not divide; paths start at the role's settings.

    Args:
        architecture: The model; None where nobody said.
        split: Split of one copy.
        gpus_per_node: GPUs of a node.
        node: What to call a node, such as its instance type.
    """
    if architecture is not None:
        yield from _kind(architecture, split)
    obstacles = list(_tensor_obstacles(architecture, split.tensor, gpus_per_node, node))
    if obstacles:
        yield _tensor(architecture, split, gpus_per_node, node, obstacles)
        return
    if architecture is not None:
        yield from _layers(architecture, split)
        yield from _experts(architecture, split)
    yield from _nodes(split, gpus_per_node, node)


def _kind(architecture: ModelArchitecture, split: Parallelism) -> Iterator[Problem]:
    """Judge what only a mixture of experts has."""
    if architecture.is_mixture_of_experts:
        return
    if split.data > 1:
        fix = f"Set parallelism.data to 1 and replicas to {split.data} times as many: copies share nothing."
        yield Problem("parallelism.data", f"{split.data}, of a model without experts", "1", fix)
    if split.expert:
        fix = "Remove it, or correct the architecture."
        yield Problem("parallelism.expert", "true, of a model without experts", "false", fix)


def _tensor_obstacles(
    architecture: ModelArchitecture | None, tensor: int, gpus_per_node: int, node: str
) -> Iterator[str]:
    """Say why layers cannot be split over so many tensor ranks."""
    if gpus_per_node % tensor and tensor % gpus_per_node:
        yield f"the {gpus_per_node} GPUs of one {node} are not divisible by it"
    if architecture is None:
        return
    heads, kv_heads = architecture.attention_heads, architecture.kv_heads
    if heads % tensor:
        yield f"{heads} attention heads are not divisible by it"
    # Engines give each rank some heads, or copy each head to some ranks.
    elif not architecture.has_latent_attention and kv_heads % tensor and tensor % kv_heads:
        yield f"{kv_heads} key and value heads do not divide it, nor it them"
    block, width = architecture.quantization_block, architecture.dense_intermediate_size
    if block and width and _cuts_blocks(width, tensor, block):
        yield f"{width} / {tensor} is no multiple of the {block} weights that share a scale"


def _cuts_blocks(width: int, ranks: int, block: int) -> bool:
    return bool(width % ranks or width // ranks % block)


def _tensor(
    architecture: ModelArchitecture | None, split: Parallelism, gpus_per_node: int, node: str, obstacles: list[str]
) -> Problem:
    working = [
        tensor
        for tensor in range(1, gpus_per_node + 1)
        if not any(_tensor_obstacles(architecture, tensor, gpus_per_node, node))
    ]
    if split.tensor > gpus_per_node:
        fix = "Keep tensor parallelism inside a node, and span nodes with parallelism.pipeline or data."
    else:
        fix = f"Write {_nearest(split.tensor, working)}."
    found = f"{split.tensor}: {', and '.join(obstacles)}"
    return Problem("parallelism.tensor", found, ", ".join(map(str, working)), fix)


def _layers(architecture: ModelArchitecture, split: Parallelism) -> Iterator[Problem]:
    if split.pipeline > architecture.layers:
        allowed = f"at most {architecture.layers}: so many layers has the model"
        yield Problem("parallelism.pipeline", str(split.pipeline), allowed, "Lower it.")


def _experts(architecture: ModelArchitecture, split: Parallelism) -> Iterator[Problem]:
    """Judge how experts are dealt, or sliced, over the tensor ranks of all data ranks."""
    ranks, experts = split.tensor * split.data, architecture.experts
    if not experts:
        return
    width, block = architecture.expert_intermediate_size, architecture.quantization_block
    if not split.expert:
        if block and _cuts_blocks(width, ranks, block):
            found = (
                f"false: each GPU gets {width} / {ranks} of an expert, no multiple of the {block} that share a scale"
            )
            fewer = max(
                (
                    count
                    for count in range(1, min(ranks, _MOST_RANKS))
                    if not ranks % count and not _cuts_blocks(width, count, block)
                ),
                default=None,
            )
            fix = "Set parallelism.expert to true, which keeps experts whole"
            fix += f", or tensor times data to {fewer}." if fewer else "."
            yield Problem("parallelism.expert", found, f"true, or slices of a multiple of {block}", fix)
        return
    if experts % ranks == 0:
        return
    # As many tensor ranks as now, and more or fewer data ranks.
    counts = range(split.tensor, min(2 * ranks, _MOST_RANKS) + 1, split.tensor)
    working = [count for count in counts if experts % count == 0]
    found = f"true, over {ranks} GPUs"
    allowed = f"a number of GPUs that divides {experts}: {', '.join(map(str, working)) or 'fewer'}"
    if ranks > experts:
        fix = f"Lower tensor times data to {max(working, default=experts)}, or set parallelism.expert to false."
        yield Problem("parallelism.expert", found, allowed, fix)
    else:
        fix = "Else all GPUs wait for those with more experts."
        if working:
            fix = f"Choose tensor times data of {_nearest(ranks, working)}. {fix}"
        yield Problem("parallelism.expert", found, allowed, fix, Severity.WARNING)


def _nodes(split: Parallelism, gpus_per_node: int, node: str) -> Iterator[Problem]:
    """Judge how GPUs fill nodes."""
    found = f"{split.gpus} GPUs for one copy"
    if split.tensor > gpus_per_node:
        nodes = split.tensor // gpus_per_node
        yield Problem(
            "parallelism.tensor",
            f"{split.tensor}, over {nodes} nodes",
            f"at most {gpus_per_node}, the GPUs of one {node}, for NVLink to carry what every layer exchanges",
            f"Set parallelism.tensor to {gpus_per_node} and parallelism.pipeline to {split.pipeline * nodes},"
            " or use data ranks with experts.",
            Severity.WARNING,
        )
    if split.gpus < gpus_per_node:
        if over := gpus_per_node % split.gpus:
            divisors = [count for count in range(1, gpus_per_node + 1) if gpus_per_node % count == 0]
            yield Problem(
                "parallelism",
                f"{split}: {found}",
                f"{', '.join(map(str, divisors))} GPUs, which share the {gpus_per_node} of one {node} without rest",
                f"Choose a split of {_nearest(split.gpus, divisors)} GPUs, or bear that {over} of each node stay idle.",
                Severity.WARNING,
            )
        return
    field, count, other = (
        ("data", split.data, split.world) if split.data > 1 else ("pipeline", split.pipeline, split.tensor)
    )
    if split.gpus % gpus_per_node:
        step = gpus_per_node // math.gcd(gpus_per_node, other)
        # One node is less than was wanted: two or more.
        working = [step * factor for factor in range(2, _MOST_RANKS) if step * factor * other > gpus_per_node]
        allowed = f"a multiple of {step}, for whole nodes of {gpus_per_node} GPUs"
        fix = f"Write {_nearest(count, working)}."
        yield Problem(f"parallelism.{field}", f"{count}: {found}", allowed, fix)
    elif split.data > 1 and split.gpus > gpus_per_node and not _fill(split.world, gpus_per_node):
        working = [stages for stages in range(1, _MOST_RANKS) if _fill(stages * split.tensor, gpus_per_node)]
        yield Problem(
            "parallelism.pipeline",
            f"{split.pipeline}: data ranks of {split.world} GPUs lie across nodes of {gpus_per_node}",
            "data ranks that share a node without rest, or fill whole ones",
            f"Write {_nearest(split.pipeline, working)}.",
        )


def _fill(gpus: int, gpus_per_node: int) -> bool:
    return gpus_per_node % gpus == 0 or gpus % gpus_per_node == 0


def _nearest(count: int, working: Sequence[int]) -> str:
    """Name the working numbers next to ``count``, below and above."""
    below = [max((number for number in working if number < count), default=None)]
    above = [min((number for number in working if number > count), default=None)]
    return " or ".join(str(number) for number in below + above if number is not None)
