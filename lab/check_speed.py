"""How fast ``lws check`` is: how long it takes to start, and to judge a thousand LeaderWorkerSets."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab.folders import PROJECT

OBJECTS = 1000
LONGEST_START_SECONDS = 0.5
LONGEST_CHECK_SECONDS = 5.0

_EXAMPLE = PROJECT / "tests" / "golden" / "examples" / "glm-5" / "leaderworkerset-glm-5.yaml"


def measure() -> list[str]:
    """Return a line for each figure, with what is wanted."""
    text = _EXAMPLE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        one, many = Path(folder) / "one.yaml", Path(folder) / "many.yaml"
        one.write_text(text, encoding="utf-8")
        many.write_text("---\n".join(text.replace("glm-5", f"glm-{n}") for n in range(OBJECTS)), encoding="utf-8")
        return [
            f"lws --help {_seconds('--help'):.2f} s, at most {LONGEST_START_SECONDS} wanted",
            f"lws check of one object {_seconds('check', str(one)):.2f} s, at most {LONGEST_START_SECONDS} wanted",
            f"lws check of {OBJECTS} {_seconds('check', str(many)):.2f} s, at most {LONGEST_CHECK_SECONDS} wanted",
        ]


def _seconds(*arguments: str) -> float:
    """Return how long the command takes: the best of three, since the machine's own noise only ever adds."""
    return min(_timed(arguments) for _ in range(3))


def _timed(arguments: tuple[str, ...]) -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "pulumi_lws.cli", *arguments], capture_output=True, check=False)
    return time.monotonic() - began
