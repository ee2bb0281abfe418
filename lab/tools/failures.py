"""Turns what a failing ``go`` command printed into one sentence and a way out; pure."""

import re
from pathlib import Path

from lab.errors import LabError
from lab.tools.table import Tool

SHOWN_LINES = 20
"""Lines from the end of the log that an error shows."""

MODULE = re.compile(r"(?P<module>[a-z0-9][\w.~-]*(?:/[\w.~-]+)*)@(?P<version>v\d[\w.+-]*)")
"""A module and its version as go names them; in an address they stand apart (``/@v/``) and do not match."""

NETWORK = {
    r"module lookup disabled by GOPROXY=off": "GOPROXY is off",
    r"checksum mismatch|SECURITY ERROR": "what was served does not have the expected checksum",
    r"x509|certificate": "the certificate of the server is not trusted",
    r"no such host|Temporary failure in name resolution|server misbehaving": "the name of the server is not known",
    r"connection refused|proxyconnect": "the connection was refused",
    r"timeout|deadline exceeded": "there was no answer in time",
    r"network is unreachable|no route to host": "there is no network",
    r"\b40[137]\b|Forbidden|Unauthorized": "the server refused it",
    r"\b(?:404|410)\b|Not Found|unknown revision": "the server does not have it",
    r"\b5\d\d\b|unexpected EOF|connection reset": "the server failed",
}
"""Signs of a refused download in go's output → the reason in words, without the names of servers."""


def explain(printed: str, tool: Tool, log: Path) -> LabError:
    """The error for a failed command.

    Args:
        printed: Everything that the command printed.
        tool: What was being built.
        log: Where the whole output is kept.

    Returns:
        An error that tells a full disk, an old toolchain, missing memory and a refused download from a real failure.
    """
    if "no space left on device" in printed:
        return LabError(
            f"The disk was full while {tool.name} was built.",
            "Free some space and run this again; what is already built stays.",
        )
    if old := re.search(r"requires go >= ([\d.]+).*running go ([\d.]+)", printed):
        return LabError(
            f"{tool.name} needs Go {old[1]} or newer, but Go {old[2]} is on PATH.", "Install it (https://go.dev/dl)."
        )
    if "signal: killed" in printed:
        return LabError(
            f"A compiler was killed while {tool.name} was built, most likely for lack of memory.",
            "Free some memory, or set GOFLAGS=-p=1 so that one package is built at a time, and run this again.",
        )
    return refused_download(printed, tool, log) or LabError(
        f"Building {tool.name} {tool.version} failed.",
        f"The whole log is in {log}.",
        "\n".join(printed.splitlines()[-SHOWN_LINES:]),
    )


def refused_download(printed: str, tool: Tool, log: Path) -> LabError | None:
    """The error for a module that could not be downloaded; None if that was not the trouble."""
    for line in printed.splitlines():
        module = MODULE.search(line)
        reason = next((words for sign, words in NETWORK.items() if re.search(sign, line)), None)
        if module and reason and not line.startswith("go: downloading"):
            return LabError(
                f"Go could not download the module {module['module']} {module['version']} that {tool.name} is built"
                f" from: {reason}.",
                f"Check the network and the GOPROXY setting; the whole log is in {log}.",
            )
    return None
