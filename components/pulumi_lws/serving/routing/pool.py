"""The pods that a router chooses from."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class RoutedPool:
    """The pods of a disaggregated deployment, as a router sees them.

    Attributes:
        name: Name of the deployment.
        namespace: Namespace of its pods.
        selector: Labels of the pods of both roles that answer requests. They also have labels for their role and for
            their revision.
        port: Port on which each of them answers. A pod with several data ranks balances over them itself.
        drain_seconds: How long a request may take: routers finish theirs before they go.
    """

    name: str
    namespace: str
    selector: Mapping[str, str]
    port: int
    drain_seconds: int
