"""The device plugin of NVIDIA: GPUs as a resource of nodes."""

from pulumi_lws.addons.addon import AddOnFacts
from pulumi_lws.addons.device_nodes import EVERYWHERE, has_gpu_plugin, on_pools

NVIDIA_DEVICE_PLUGIN = AddOnFacts(
    name="nvidia_device_plugin",
    title="NVIDIA device plugin",
    purpose="GPUs as a resource of nodes",
    pin="nvidia-device-plugin-chart",
    release="nvidia-device-plugin",
    namespace="kube-system",
    values=lambda _declared, site: {
        # Since 0.19 it mounts every InfiniBand device into each container with a GPU, against the plugin of EFA.
        # https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
        "mofedEnabled": False,
        "tolerations": list(EVERYWHERE),
        # Two of them on one node take the GPUs from each other.
        # https://github.com/bottlerocket-os/bottlerocket/issues/4309
        "affinity": on_pools(but=[name for name, pool in site.pools.items() if has_gpu_plugin(pool, site.image)]),
    },
    not_on={"auto": "it is part of the nodes of Auto Mode, whose file system it could not write to"},
    controllers=("DaemonSet/nvidia-device-plugin",),
)
