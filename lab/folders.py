"""Where the lab keeps things: binaries outside the checkout, the state of each lab inside it."""

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
"""Root of the checkout that this lab belongs to."""

DEFAULT_LAB = "local"
"""Name of the lab that commands mean when none is given."""


def cache_folder() -> Path:
    """Folder of built and downloaded programs, shared by all checkouts: ``$XDG_CACHE_HOME/pulumi-lws``."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "pulumi-lws"


def lab_folder(name: str) -> Path:
    """State folder of the lab called ``name``: ``.lab/<name>`` in the checkout, ignored by git.

    It stands in the checkout so that the labs of two checkouts never meet and a deleted checkout leaves no state.
    """
    return PROJECT / ".lab" / name
