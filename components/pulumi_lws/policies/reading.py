"""Has the SDK read a resource once for all policies of a pack.

It turns the message of a resource into plain data before it asks a policy, and again before it asks the next one. With
as many policies as there are rules, that is nearly all of the time that a preview waits for the pack.
https://github.com/pulumi/pulumi-policy/blob/main/sdk/python/lib/pulumi_policy/policy.py (Analyze, AnalyzeStack)
"""

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from google.protobuf import json_format
from pulumi_policy import policy as sdk
from pulumi_policy.deserialize import deserialize_properties
from pulumi_policy.proxy import unknown_checking_proxy


class Readings(threading.local):
    """What a thread has read of the request that it answers, by the identity of what it was read from."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self._known: dict[tuple[str, int], tuple[Any, Any]] = {}

    def forget(self) -> None:
        """Say that another request begins."""
        self._known.clear()

    def once(self, name: str, read: Callable[..., Any]) -> Callable[..., Any]:
        """Return a reader that answers again what it answered before. Policies must not change what it answers."""

        def remembered(source: Any, *more: Any) -> Any:
            if more:
                return read(source, *more)
            key = name, id(source)
            if key not in self._known:
                # The source is kept, too, so that nothing else gets its identity.
                self._known[key] = source, read(source)
            return self._known[key][1]

        return remembered


def read_once() -> Readings:
    """Change the SDK of this process, which serves a pack and does nothing else."""
    readings = Readings()
    own = {"MessageToDict": readings.once("MessageToDict", json_format.MessageToDict)}
    to_data = SimpleNamespace(**{**vars(json_format), **own})
    # The SDK does not count these names among those that it exports.
    vars(sdk)["json_format"] = to_data
    for step in (deserialize_properties, unknown_checking_proxy):
        vars(sdk)[step.__name__] = readings.once(step.__name__, step)
    return readings
