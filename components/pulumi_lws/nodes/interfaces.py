"""The network interfaces of a node with all its EFA devices, as they are laid out over its network cards."""

from typing import Any

from pulumi_lws.facts.instances import InstanceType
from pulumi_lws.nodes.cluster import Mode

POD_ADDRESS_PREFIXES = 2
"""Prefixes of 16 addresses for the pods of an Auto Mode node with explicit interfaces: such a node gets no address
later on, and a GPU node runs at most 8 packed pods and some DaemonSets."""


def network_interfaces(instance: InstanceType, mode: Mode) -> list[dict[str, Any]]:
    """Return one interface for IP and every EFA device as ``efa-only``, which takes no address.

    The layout is the one that EC2 recommends to save addresses, such as 33 interfaces on a p5.48xlarge: ENA on card 0
    and device 0; EFA as device 1 of that card, if it carries EFA, and as device 0 of each further card.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    """
    primary: dict[str, Any] = {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}
    if mode == "auto":
        primary["secondaryIPv4PrefixCount"] = POD_ADDRESS_PREFIXES
    first = instance.ena_only_cards
    return [
        primary,
        *(
            {"networkCardIndex": card, "deviceIndex": 0 if card else 1, "interfaceType": "efa-only"}
            for card in range(first, first + instance.efa_interfaces)
        ),
    ]
