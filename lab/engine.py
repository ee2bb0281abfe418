"""Prepares the real Pulumi engine for one lab: its own programs, plugins, backend and passphrase.

A project that runs with these settings sees nothing of the person's own Pulumi, and leaves nothing in it.
"""

import errno
import json
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from lab.aws import install as aws
from lab.cluster.layout import Layout
from lab.language_host import install
from lab.tools.obtained import Obtained

PASSPHRASE = "pulumi-lws-lab"  # noqa: S105 - published: it encrypts the secrets of labs, which hold none worth keeping


def prepare(layout: Layout, cli: Obtained, kubernetes_provider: Obtained) -> None:
    """Put the engine's programs where it looks for them.

    Args:
        layout: The lab.
        cli: The Pulumi CLI.
        kubernetes_provider: The provider in the version that the installed SDK asks for.
    """
    for folder in (layout.programs, layout.pulumi_home, layout.stacks):
        folder.mkdir(parents=True, exist_ok=True)
    _place(cli.binaries["pulumi"], layout.programs)
    if cli.has_language_host:
        # The official host comes as several programs that look for each other in their folder.
        for program in cli.binaries[install.NAME].resolve().parent.glob("pulumi-*"):
            _place(program, layout.programs)
    else:
        install.install(layout.programs, Path(sys.executable))
    plugin = layout.pulumi_home / "plugins" / f"resource-kubernetes-v{kubernetes_provider.version}"
    plugin.mkdir(parents=True, exist_ok=True)
    _place(kubernetes_provider.binaries["pulumi-resource-kubernetes"], plugin)
    aws.install(layout.pulumi_home, layout.aws, layout.kubeconfig, Path(sys.executable))


def release_abandoned_locks(layout: Layout) -> None:
    """Remove locks of stacks whose process is gone: one that was killed leaves its lock, and nobody else asks for it.

    Only for the backend of a lab, which no other machine shares.
    """
    for lock in layout.stacks.glob(".pulumi/locks/**/*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            if not _lives(json.loads(lock.read_text(encoding="utf-8"))["pid"]):
                lock.unlink()


def _lives(process_id: int) -> bool:
    try:
        # A process that was killed stays in the table until its parent collects it, which can take a while.
        return bool(psutil.Process(process_id).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def backend(folder: Path) -> str:
    """The address of a backend that keeps its states in a folder.

    By default a file with attributes stands beside each state. An engine that is killed while it writes those leaves
    them empty, and then nobody can load the state ("failed to load checkpoint: EOF").
    https://github.com/google/go-cloud/blob/master/blob/fileblob/attrs.go
    """
    return f"{folder.as_uri()}?metadata=skip"


def environment(layout: Layout, path: str) -> dict[str, str]:
    """The variables with which ``pulumi`` and Kubernetes clients use the lab.

    Args:
        layout: The lab.
        path: PATH as it is now; the lab's programs come first in the new one, once.
    """
    programs = str(layout.programs)
    others = [entry for entry in path.split(os.pathsep) if entry not in ("", programs)]
    return {
        "PATH": os.pathsep.join([programs, *others]),
        "KUBECONFIG": str(layout.kubeconfig),
        "PULUMI_HOME": str(layout.pulumi_home),
        "PULUMI_BACKEND_URL": backend(layout.stacks),
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        # An Output that is turned into text by mistake becomes an error instead of a strange name.
        "PULUMI_ERROR_OUTPUT_STRING": "true",
    }


def as_shell(variables: Mapping[str, str]) -> str:
    """Lines for ``eval`` in any POSIX shell."""
    return "".join(f"export {name}='{_inside_quotes(value)}'\n" for name, value in variables.items())


def _inside_quotes(value: str) -> str:
    return value.replace("'", r"'\''")


def _place(program: Path, folder: Path) -> None:
    """Make a program appear in a folder as a file of its own: the engine does not follow linked folders.

    A hard link costs no space; across file systems the file is copied.
    """
    source, target = program.resolve(), folder / program.name
    if target.exists() and target.samefile(source):
        return
    draft = folder / f".{program.name}.{os.getpid()}"
    draft.unlink(missing_ok=True)
    try:
        draft.hardlink_to(source)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK):
            raise
        shutil.copy2(source, draft)
    # Renamed into place, so that a program that starts at this moment finds the old one or the new one.
    draft.replace(target)
