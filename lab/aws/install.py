"""Puts the providers where the engine finds them."""

import importlib.metadata
import shlex
from pathlib import Path

PACKAGES = ("aws", "eks")


def versions() -> dict[str, str]:
    """The versions of the installed SDKs; empty where one is missing, so that no program could use them."""
    try:
        return {package: importlib.metadata.version(f"pulumi-{package}") for package in PACKAGES}
    except importlib.metadata.PackageNotFoundError:
        return {}


def install(pulumi_home: Path, folder: Path, kubeconfig: Path, python: Path) -> None:
    """Write the plugins ``aws`` and ``eks`` in the versions of the installed SDKs.

    Args:
        pulumi_home: The engine's ``PULUMI_HOME``.
        folder: Where what exists in the accounts is kept.
        kubeconfig: Of the lab's API server, which is every cluster; it need not exist.
        python: The interpreter that the providers run with, which needs the packages of the lab and both SDKs.
    """
    main = Path(__file__).resolve().with_name("__main__.py")
    for package, version in versions().items():
        plugin = pulumi_home / "plugins" / f"resource-{package}-v{version}"
        plugin.mkdir(parents=True, exist_ok=True)
        executable = plugin / f"pulumi-resource-{package}"
        # `absolute`, since the target of a virtual environment's link is another Python.
        command = [python.absolute(), "-P", main, package, folder.absolute(), kubeconfig.absolute()]
        # Made whole under another name: an engine may start it at any moment.
        draft = executable.with_suffix(".new")
        draft.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n', encoding="utf-8")
        draft.chmod(0o755)
        draft.replace(executable)
