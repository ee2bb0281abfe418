"""Free ports on the loopback address."""

import errno
import socket
from collections.abc import Iterable, Mapping
from contextlib import ExitStack

from lab.errors import LabError

LOOPBACK = "127.0.0.1"


def choose(names: Iterable[str], preferred: Mapping[str, int], pinned: Mapping[str, int]) -> dict[str, int]:
    """Choose a free port for each name.

    A port is free at the moment of the choice only: whoever starts a server on it must be ready to choose again.

    Args:
        names: What the ports are for.
        preferred: Ports of an earlier run, taken again where they are still free, so that addresses stay.
        pinned: Ports that must be these and no others.

    Raises:
        LabError: A pinned port is taken.
    """
    chosen: dict[str, int] = {}
    with ExitStack() as held:
        for name in names:
            wanted = pinned.get(name, preferred.get(name, 0))
            server = held.enter_context(socket.socket())
            # As servers do: a port whose last connections are only fading away is free.
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                server.bind((LOOPBACK, wanted))
            except OSError as error:
                if name in pinned:
                    raise _refused(wanted, error) from error
                server.bind((LOOPBACK, 0))
            chosen[name] = int(server.getsockname()[1])
    return chosen


def _refused(port: int, error: OSError) -> LabError:
    if error.errno == errno.EADDRINUSE:
        return LabError(
            f"Port {port} on {LOOPBACK} is taken by another program.",
            "Name another one with --api-port, or leave the option out to have a free one chosen.",
        )
    return LabError(
        f"Port {port} on {LOOPBACK} cannot be used ({error.strerror}).",
        "Name one between 1024 and 65535 with --api-port, or leave the option out.",
    )
