"""The instance catalogue and the quotas that bound it."""

import subprocess
import sys

import pytest

from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.facts.quotas import QUOTAS

# As Karpenter 1.14 lists them: GPUs, EFA, vCPUs, memory in MiB, network in Mbit/s.
KARPENTER = {
    "p4d.24xlarge": (8, 4, 96, 1_179_648, 400_000),
    "p4de.24xlarge": (8, 4, 96, 1_179_648, 400_000),
    "p5.4xlarge": (1, 1, 16, 262_144, 100_000),
    "p5.48xlarge": (8, 32, 192, 2_097_152, 3_200_000),
    "p5e.48xlarge": (8, 32, 192, 2_097_152, 3_200_000),
    "p5en.48xlarge": (8, 16, 192, 2_097_152, 3_200_000),
    "p6-b200.48xlarge": (8, 8, 192, 2_097_152, 3_200_000),
    "p6-b300.48xlarge": (8, 16, 192, 4_194_304, 6_400_000),
    "g6e.xlarge": (1, 0, 4, 32_768, 2_500),
    "g6e.2xlarge": (1, 0, 8, 65_536, 5_000),
    "g6e.4xlarge": (1, 0, 16, 131_072, 20_000),
    "g6e.8xlarge": (1, 1, 32, 262_144, 25_000),
    "g6e.12xlarge": (4, 1, 48, 393_216, 100_000),
    "g6e.16xlarge": (1, 1, 64, 524_288, 35_000),
    "g6e.24xlarge": (4, 2, 96, 786_432, 200_000),
    "g6e.48xlarge": (8, 4, 192, 1_572_864, 400_000),
}


def test_the_catalogue_agrees_with_karpenter() -> None:
    ours = {
        name: (one.gpus, one.efa_interfaces, one.vcpus, one.memory_mib, one.network_gbps * 1000)
        for name, one in INSTANCE_TYPES.items()
    }
    assert ours == KARPENTER


def test_a_gpu_offers_less_than_its_data_sheet_says() -> None:
    sheet_gb = {"A100": 80, "H100": 80, "H200": 141, "B200": 192, "B300": 288, "L40S": 48}
    offered = {one.name: one.gpu_memory_mib * 2**20 / 10**9 for one in INSTANCE_TYPES.values()}
    offered["p4d.24xlarge"] *= 2  # the A100 of 40 GB
    shares = {one.name: offered[one.name] / sheet_gb[one.gpu] for one in INSTANCE_TYPES.values()}
    # "80 GB" are GiB, and data sheets round.
    assert {name for name, share in shares.items() if not 0.95 <= share <= 1.075} == set()


def test_every_family_has_its_quotas() -> None:
    assert {one.family for one in INSTANCE_TYPES.values()} == set(QUOTAS)


def test_quotas_are_known_by_the_codes_of_service_quotas() -> None:
    codes = {family: (one.on_demand.code, one.spot.code if one.spot else None) for family, one in QUOTAS.items()}
    assert codes == {
        "p4d": ("L-417A185B", "L-7212CCBC"),
        "p4de": ("L-417A185B", "L-7212CCBC"),
        "p5": ("L-417A185B", "L-C4BD4855"),
        "p5e": ("L-417A185B", "L-C4BD4855"),
        "p5en": ("L-417A185B", "L-C4BD4855"),
        "p6-b200": ("L-417A185B", None),
        "p6-b300": ("L-417A185B", None),
        "g6e": ("L-DB2E81BA", "L-3819A6DF"),
    }


def test_families_of_one_on_demand_quota_are_called_alike() -> None:
    codes = {(one.family, one.on_demand) for one in QUOTAS.values()}
    assert len(codes) == len({family for family, _ in codes}) == len({quota.code for _, quota in codes})


@pytest.mark.parametrize("module", ["instances", "models", "quotas"])
def test_facts_load_without_anything_heavy(module: str) -> None:
    heavy = {"pulumi", "grpc", "yaml", "typer", "rich", "kubernetes_validate", "jsonschema_rs"}
    code = f"import pulumi_lws.facts.{module}, sys; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
