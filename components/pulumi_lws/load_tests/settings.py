"""What a user declares of a load test: requests of one size to one deployment, in steps of rising load."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from pulumi_lws.declarations import Declaration, DnsLabel, ObjectName, PositiveCount
from pulumi_lws.planning.problems import invalid
from pulumi_lws.serving.names import ModelName, PinnedImage
from pulumi_lws.serving.settings import SecretKey
from pulumi_lws.serving.sources.settings import FolderPath

_MOST_STEPS = 20


def _rising(steps: Sequence[float]) -> Sequence[float]:
    rises = all(lower < higher for lower, higher in pairwise(steps))
    if not steps or len(steps) > _MOST_STEPS or not rises:
        raise invalid(
            f"1 to {_MOST_STEPS} numbers, each larger than the one before it",
            "Write them in rising order, so that what a step leaves in the queue weighs least on the next.",
        )
    return steps


class ConcurrentLoad(Declaration):
    """So many requests at a time: as soon as one is answered, the next is sent."""

    kind: Literal["concurrent"] = "concurrent"
    """``concurrent``."""
    requests: Annotated[tuple[Annotated[PositiveCount, Field(le=10_000)], ...], AfterValidator(_rising)]
    """Requests at a time, one number for each step, rising; at most 20 steps of at most 10000."""


class ArrivingLoad(Declaration):
    """Requests that arrive whether earlier ones are answered or not, as users' do (a Poisson process)."""

    kind: Literal["arriving"] = "arriving"
    """``arriving``."""
    per_second: Annotated[tuple[Annotated[float, Field(gt=0, le=10_000)], ...], AfterValidator(_rising)]
    """Requests per second on average, one number for each step, rising; at most 20 steps of at most 10000."""


Load = Annotated[ConcurrentLoad | ArrivingLoad, Field(discriminator="kind")]
"""A load, chosen by ``kind``."""

TokenCount = Annotated[PositiveCount, Field(le=10_000_000)]
"""A number of tokens."""


class ResultsClaim(Declaration):
    """A PersistentVolumeClaim ``load-test-<name>``, made with the test and gone with it, results and all."""

    size_gib: Annotated[PositiveCount, Field(le=16_384)]
    """Its size in GiB, at most 16384. A run takes some MB."""
    storage_class: ObjectName | None = None
    """StorageClass of its volume. Default: the cluster's own; EKS makes none the default."""


class LoadTestSettings(Declaration):
    """A load test of a deployment: it runs once, and again whenever it or the deployment's record changes.

    Prompts are made up and never repeat, so that the prefix cache does not help; each answer has its full length.
    """

    deployment: DnsLabel
    """Name of the deployment that is tested, and recorded."""
    url: Annotated[str, Field(pattern=r"^https?://[^\s/@]+(/[^\s?#@]*)?$", examples=["https://llm.example.com/v1"])] | (
        None
    ) = None
    """Address of the OpenAI API that requests go to, such as a gateway's. Default: the deployment's own."""
    load: Load
    """How many requests: ``concurrent`` or ``arriving``, in steps."""
    input_tokens: TokenCount
    """Tokens of each prompt."""
    output_tokens: TokenCount
    """Tokens of each answer: the model goes on until it has written them."""
    seconds: Annotated[PositiveCount, Field(ge=60, le=14_400)] = 300
    """Length of each step in seconds, 60 to 14400; the first tenth does not count. Default 300."""
    max_error_rate: Annotated[float, Field(gt=0, lt=1)] = 0.01
    """Share of requests that may fail. Above it the test ends, and fails. Default 0.01."""
    run: PositiveCount = 1
    """Raise it to run the same test again. Default 1."""
    results: ObjectName | ResultsClaim | None = None
    """PersistentVolumeClaim that keeps the results, a folder for each run: the name of one that is there before the
    test, or a size, and it is made. Default none: they stand in the log of the pod, which is gone with its node."""
    api_key: SecretKey | None = None
    """Key of the API. Default: the one that the deployment takes as ``VLLM_API_KEY`` from a Secret, if any."""
    tokenizer: ModelName | None = None
    """Hugging Face id of the tokenizer that prompts are measured with. Default: the deployment's volume where its
    weights lie on one, else its ``model``."""
    tokenizer_claim: ObjectName | None = None
    """PersistentVolumeClaim of the namespace that holds the tokenizer's files instead; mounted read-only. Default
    none."""
    tokenizer_path: FolderPath = ""
    """Folder of ``tokenizerClaim`` with these files. Default: its root."""
    image: PinnedImage | None = None
    """Image of GuideLLM. Default: the one of the pin table."""
    image_pull_secret: ObjectName | None = None
    """Secret that opens the registry of the image. Default none."""
    cpus: Annotated[PositiveCount, Field(le=192)] = 4
    """CPUs of the pod, at most 192. Too few, and the test measures itself: GuideLLM warns of it. Default 4."""
    memory_gib: Annotated[PositiveCount, Field(le=1024)] = 8
    """Memory of the pod in GiB, at most 1024. Default 8."""

    @property
    def steps(self) -> tuple[float, ...]:
        """The load of each step."""
        return self.load.requests if isinstance(self.load, ConcurrentLoad) else self.load.per_second
