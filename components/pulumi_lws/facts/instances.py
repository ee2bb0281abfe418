"""The instance catalogue: what one node of each EC2 type that we know brings.

Sources: Karpenter's generated instance tables (``pkg/providers/instancetype/zz_generated.*`` of
karpenter-provider-aws 1.14) for EFA counts, the EC2 accelerated-computing instance pages for the rest. Prices are no
facts of the hardware and do not stand here.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class InstanceType:
    """One EC2 instance type.

    Attributes:
        name: The EC2 name, such as ``p5.48xlarge``.
        gpus: GPUs of one node.
        gpu: Product name of the GPU.
        gpu_memory_mib: Memory of one GPU in MiB, as the driver reports it.
        efa_interfaces: ``vpc.amazonaws.com/efa`` of a node with every interface attached; 0 where EFA is absent.
        vcpus: Virtual CPUs.
        memory_mib: Main memory in MiB, before any reserve.
        local_storage_gb: Instance store in GB (10^9), summed over its disks; 0 where there is none.
    """

    name: str
    gpus: int
    gpu: str
    gpu_memory_mib: int
    efa_interfaces: int
    vcpus: int
    memory_mib: int
    local_storage_gb: int


_GIB = 1024

INSTANCE_TYPES: dict[str, InstanceType] = {
    instance.name: instance
    for instance in (
        InstanceType("p4d.24xlarge", 8, "A100", 40_960, 4, 96, 1_152 * _GIB, 8_000),
        InstanceType("p4de.24xlarge", 8, "A100", 81_920, 4, 96, 1_152 * _GIB, 8_000),
        InstanceType("p5.4xlarge", 1, "H100", 81_920, 1, 16, 256 * _GIB, 3_840),
        InstanceType("p5.48xlarge", 8, "H100", 81_920, 32, 192, 2_048 * _GIB, 30_720),
        InstanceType("p5e.48xlarge", 8, "H200", 144_384, 32, 192, 2_048 * _GIB, 30_720),
        InstanceType("p5en.48xlarge", 8, "H200", 144_384, 16, 192, 2_048 * _GIB, 30_720),
        InstanceType("p6-b200.48xlarge", 8, "B200", 183_359, 8, 192, 2_048 * _GIB, 30_720),
        InstanceType("p6-b300.48xlarge", 8, "B300", 275_040, 16, 192, 4_096 * _GIB, 30_720),
        InstanceType("g6e.12xlarge", 4, "L40S", 46_068, 0, 48, 384 * _GIB, 3_800),
        InstanceType("g6e.24xlarge", 4, "L40S", 46_068, 1, 96, 768 * _GIB, 3_800),
        InstanceType("g6e.48xlarge", 8, "L40S", 46_068, 4, 192, 1_536 * _GIB, 7_600),
    )
}
"""Every instance type that pools may name, by its EC2 name."""
