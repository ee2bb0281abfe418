"""How the libraries below an engine find each other: NCCL, Gloo, NVSHMEM and libfabric, whatever the engine."""

from pulumi_lws.serving.engines.engine import Launch

_ALL_BUT_LOCAL = "^lo,docker,veth"


def interconnect(launch: Launch) -> dict[str, str]:
    """Return the environment of ranks that talk to other pods; a pod that is alone needs none."""
    environment: dict[str, str] = {}
    if launch.shape.size > 1:
        environment |= {
            # On the node's network a list of what to use hides the EFA interfaces; a list of what not to use does not.
            "NCCL_SOCKET_IFNAME": _ALL_BUT_LOCAL if launch.host_network else launch.interface,
            # Gloo takes one name and knows no exclusion.
            "GLOO_SOCKET_IFNAME": launch.interface,
            # The first all-reduce between nodes failed on EFA with it. https://github.com/aws-samples/aws-do-eks/issues/53
            "NCCL_NVLS_ENABLE": "0",
        }
        if launch.parallelism.expert:
            environment["NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME"] = launch.interface
    if launch.has_efa and (launch.shape.size > 1 or launch.role != "serve"):
        environment |= {
            "FI_PROVIDER": "efa",
            "FI_EFA_USE_DEVICE_RDMA": "1",
            # Between ranks of one pod the GPUs' own links are faster than the host's memory.
            "FI_EFA_ENABLE_SHM_TRANSFER": "0",
            "FI_EFA_FORK_SAFE": "1",
        }
    return environment
