"""The page of the model catalogue, with the fewest GPUs that hold each model."""

from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.facts.models import MODELS, ModelArchitecture
from pulumi_lws.planning.split import smallest_split

INSTANCE = "p5.48xlarge"
"""Type of the nodes that splits are proposed for."""

_PAGE = """\
# Models

The models whose sizes are known, by the name that `model` takes. Generated from `pulumi_lws/facts/models.py` by
`make docs`. Names are matched as they stand, case included, as the Hugging Face hub has them.

Of a model that is not listed, neither memory nor start times are checked until `architecture` says its sizes:

- the name of a listed model of the same shape: `architecture: Qwen/Qwen3-32B` for a fine-tuned one,
- the path of its `config.json`, from the working directory (with Pulumi, the project's folder),
- or the numbers themselves; `lws plan` lists those that are missing.

The smallest split is what holds the weights and one request of the longest context on {instance}
({gpus} {gpu} of {memory:.0f} GiB), with the defaults of everything else: TP shares layers among GPUs, PP deals them to
stages, DP makes ranks that share the experts, EP gives each rank whole experts. A shorter `maxModelLen` or
`kvCacheDtype: fp8` may do with less. Weights are what a node reads; parameters and weights are in 10^9.

{table}

Longest contexts are those of each `config.json`. Rope scaling extends some, such as YaRN of Qwen3. Either serve a copy
whose `config.json` has it, and name that file with `architecture`; or tell the engine, for vLLM with `--hf-overrides`
in `extraArguments`. Then `maxModelLen` may be larger.
"""

_HEAD = ("model", "parameters", "weights, GB", "type", "layers", "heads", "longest context", "smallest split", "nodes")


def models_page() -> str:
    """Return the page."""
    instance = INSTANCE_TYPES[INSTANCE]
    head = (
        "model",
        "parameters",
        "weights, GB",
        "type",
        "layers",
        "heads",
        "longest context",
        "smallest split",
        "nodes",
    )
    rows = [head, ("---",) * len(head), *(_row(name, model) for name, model in sorted(MODELS.items(), key=_by_name))]
    return _PAGE.format(
        instance=INSTANCE,
        gpus=instance.gpus,
        gpu=instance.gpu,
        memory=instance.gpu_memory_mib / 1024,
        table="\n".join("| " + " | ".join(row) + " |" for row in rows),
    )


def _by_name(entry: tuple[str, ModelArchitecture]) -> str:
    return entry[0].lower()


def _row(name: str, model: ModelArchitecture) -> tuple[str, ...]:
    smallest = smallest_split(model, INSTANCE_TYPES[INSTANCE])
    active = f", {model.active_parameters / 1e9:.0f} active" if model.active_parameters else ""
    heads = (
        f"{model.attention_heads}, MLA"
        if model.has_latent_attention
        else f"{model.attention_heads}, KV {model.kv_heads}"
    )
    return (
        f"[{name}]({model.source})",
        f"{model.parameters / 1e9:.0f}{active}",
        f"{model.weight_bytes / 1e9:.0f}",
        model.native_dtype,
        str(model.layers),
        heads,
        f"{model.max_positions:,}",
        str(smallest.parallelism) if smallest else "none",
        str(smallest.nodes) if smallest else "more than 16",
    )
