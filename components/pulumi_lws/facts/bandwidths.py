"""How fast a start goes: rates and durations that the estimates of a plan rest on.

They are assumptions with a source each, on the slow side where sources differ. A plan shows which of them it used.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """How fast one node reads.

    Attributes:
        gigabytes_per_second: GB (10^9 bytes) a second.
        source: What the number comes from.
    """

    gigabytes_per_second: float
    source: str

    def minutes(self, gigabytes: float) -> float:
        """Return how long so much takes, in minutes."""
        return gigabytes / self.gigabytes_per_second / 60


@dataclass(frozen=True)
class Duration:
    """How long a step takes.

    Attributes:
        minutes: Minutes.
        source: What the number comes from.
    """

    minutes: float
    source: str


DOWNLOAD = Rate(1.0, "the hub's older Python client reached about half of it (README of hf_transfer)")
"""From the Hugging Face hub to a disk of the node."""

LOCAL_DISK = Rate(0.9, "Llama-3.1-405B in BF16 (810 GB) takes 10 to 20 min with the engine's own loader")
"""From the node's own disks to the GPUs, with the loader that engines have by default."""

S3_STREAM = Rate(3.7, "benchmarks of the Run:ai Model Streamer: 3.51 GiB/s from S3 with 40 Gbit/s of network")
"""From S3 to the GPUs, with many streams."""

COPY = Rate(0.125, "a network of 1 Gbit/s, which small nodes have without bursts")
"""From S3 or the hub to a shared volume, by a node that nobody chose."""

SHARED_VOLUME = Rate(
    0.13, "Kimi K2 (554 GiB) took 4,575 s from Lustre with files on one stripe, read one after another"
)
"""From a shared volume to the GPUs, with the loader that engines have by default."""

SHARED_VOLUME_STREAM = Rate(1.87, "Kimi K2 (554 GiB) took 318 s from striped Lustre of 8 GB/s, read with many streams")
"""From a shared volume to the GPUs, with many streams."""

IMAGE_PULL = Rate(0.06, "AWS on SOCI: a standard pull of 15 to 20 GB takes 4 to 6 min")
"""From a registry to unpacked layers."""

IMAGE_GIGABYTES = 22
"""Size of an engine's image, in GB: they have 10 to 22."""

NODE_BOOT = Duration(10, "Karpenter gives up on a node after 15 min; GPU nodes take most of it")
"""From a pending pod to a node that takes it."""

COMPILE = Duration(10, "kernels, CUDA graphs and warm-up of large models take 5 to 10 min")
"""From loaded weights to the first answer, with nothing in the cache of kernels."""

COMPILE_CACHED = Duration(5, "kernels come from the cache; CUDA graphs and warm-up remain")
"""From loaded weights to the first answer, with a cache of kernels that another pod filled."""
