"""The instance catalogue: what one node of each EC2 type that we know brings.

Sources: the instance-type reference of karpenter-provider-aws 1.14 (``website/content/en/v1.14/reference``, generated
from the EC2 API) for GPUs, EFA, vCPUs, memory and network; the EC2 accelerated-computing instance pages for the
instance store. Prices are no facts of the hardware and do not stand here.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class InstanceType:
    """One EC2 instance type.

    Attributes:
        name: The EC2 name, such as ``p5.48xlarge``.
        gpus: GPUs of one node.
        gpu: Product name of the GPU.
        gpu_memory_mib: Memory of one GPU in MiB that CUDA offers to programs (what PyTorch reports as total capacity);
            the driver and ECC keep the rest of what the data sheet says.
        efa_interfaces: ``vpc.amazonaws.com/efa`` of a node with every interface attached; 0 where EFA is absent.
        vcpus: Virtual CPUs.
        memory_mib: Main memory in MiB, before any reserve.
        local_storage_gb: Instance store in GB (10^9), summed over its disks; 0 where there is none.
        network_gbps: Network bandwidth in Gbit/s, over all cards; of small sizes the baseline, without bursts.
        ena_only_cards: Network cards without EFA, counted from card 0; every further card carries one EFA interface.
    """

    name: str
    gpus: int
    gpu: str
    gpu_memory_mib: int
    efa_interfaces: int
    vcpus: int
    memory_mib: int
    local_storage_gb: int
    network_gbps: float
    ena_only_cards: int = 0

    @property
    def family(self) -> str:
        """What stands before the size, such as ``p5`` or ``p6-b200``."""
        return self.name.partition(".")[0]


_GIB = 1024
# Rounded down from the "total capacity" in PyTorch's out-of-memory messages, in GiB: 39.39, 79.15, 79.18, 139.80,
# 178.35, 267.69, 44.39. It varies by some MiB with the driver.
_A100_40, _A100_80, _H100, _H200, _B200, _B300, _L40S = 40_335, 81_049, 81_080, 143_155, 182_630, 274_114, 45_455

INSTANCE_TYPES: dict[str, InstanceType] = {
    instance.name: instance
    for instance in (
        InstanceType("p4d.24xlarge", 8, "A100", _A100_40, 4, 96, 1_152 * _GIB, 8_000, 400),
        InstanceType("p4de.24xlarge", 8, "A100", _A100_80, 4, 96, 1_152 * _GIB, 8_000, 400),
        InstanceType("p5.4xlarge", 1, "H100", _H100, 1, 16, 256 * _GIB, 3_840, 100),
        InstanceType("p5.48xlarge", 8, "H100", _H100, 32, 192, 2_048 * _GIB, 30_720, 3_200),
        InstanceType("p5e.48xlarge", 8, "H200", _H200, 32, 192, 2_048 * _GIB, 30_720, 3_200),
        InstanceType("p5en.48xlarge", 8, "H200", _H200, 16, 192, 2_048 * _GIB, 30_720, 3_200),
        InstanceType("p6-b200.48xlarge", 8, "B200", _B200, 8, 192, 2_048 * _GIB, 30_720, 3_200),
        InstanceType("p6-b300.48xlarge", 8, "B300", _B300, 16, 192, 4_096 * _GIB, 30_720, 6_400, ena_only_cards=1),
        InstanceType("g6e.xlarge", 1, "L40S", _L40S, 0, 4, 32 * _GIB, 250, 2.5),
        InstanceType("g6e.2xlarge", 1, "L40S", _L40S, 0, 8, 64 * _GIB, 450, 5),
        InstanceType("g6e.4xlarge", 1, "L40S", _L40S, 0, 16, 128 * _GIB, 600, 20),
        InstanceType("g6e.8xlarge", 1, "L40S", _L40S, 1, 32, 256 * _GIB, 900, 25),
        InstanceType("g6e.12xlarge", 4, "L40S", _L40S, 1, 48, 384 * _GIB, 3_800, 100),
        InstanceType("g6e.16xlarge", 1, "L40S", _L40S, 1, 64, 512 * _GIB, 1_900, 35),
        InstanceType("g6e.24xlarge", 4, "L40S", _L40S, 2, 96, 768 * _GIB, 3_800, 200),
        InstanceType("g6e.48xlarge", 8, "L40S", _L40S, 4, 192, 1_536 * _GIB, 7_600, 400),
    )
}
"""Every instance type that pools may name, by its EC2 name."""
