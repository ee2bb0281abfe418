"""Installs the environment with vLLM where it is missing: ``python -m lab.vllm``."""

from lab import cli
from lab.tools.progress import reporter
from lab.vllm.environment import interpreter


def main() -> None:
    """Install it, and show how far that is."""
    interpreter(reporter())


if __name__ == "__main__":
    cli.run(main)
