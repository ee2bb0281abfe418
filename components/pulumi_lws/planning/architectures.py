"""Which architecture a model has: a catalogue entry, or what a Hugging Face ``config.json`` says."""

import difflib
import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pulumi_lws.facts.models import MODELS, ModelArchitecture
from pulumi_lws.planning.checkpoints import read_config
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.quantization import UnreadableConfigError

_LARGEST_CONFIG = 1 << 20
"""Bytes of the largest ``config.json`` that is read; real ones have a few kilobytes."""

_PATH = "architecture"

_MOST_NAMES = 2
"""Names that are proposed at most."""

_LEAST_ALIKE = 0.8
"""How much of a name must be the same for another one to be proposed, of 1."""

_LEAST_START = 5
"""Letters from which on the start of a name stands for the whole."""


def architecture_of(declared: str | ModelArchitecture | None, model: str) -> ModelArchitecture | Problem | None:
    """Return the architecture of a model.

    Args:
        declared: A name of the catalogue, the path of a ``config.json`` (or of its folder), the fields themselves, or
            None for the catalogue's entry for ``model``.
        model: The model as the engine takes it.

    Returns:
        The architecture; a problem where the declaration cannot be read; None where nothing was declared and the
        catalogue does not know the model.
    """
    match declared:
        case ModelArchitecture():
            return declared
        case None:
            return MODELS.get(model)
        case _ if declared in MODELS:
            return MODELS[declared]
        case _:
            return _from_file(declared)


def _from_file(name: str) -> ModelArchitecture | Problem:
    try:
        path = Path(name)
        path = path / "config.json" if path.is_dir() else path
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return _problem(name, "a file", "Name the config.json of the model.")
        if status.st_size > _LARGEST_CONFIG:
            found = f"{path}, of {status.st_size:,} bytes"
            return _problem(found, f"at most {_LARGEST_CONFIG:,} bytes", "Name the config.json, not a file of weights.")
        config = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return _unknown(name)
    # A path may also be too long, or hold a null character; JSON may nest deeper than Python recurses.
    except (OSError, ValueError, RecursionError) as error:
        is_json = isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError)
        found = f"{name}, which is not JSON" if is_json else f"{name}, which cannot be read"
        return _problem(found, "the config.json of a model", "Download it again from the Hugging Face hub.")
    if not isinstance(config, Mapping):
        return _problem(f"{path}, which is not a JSON object", "the config.json of a model", "Name another file.")
    return _from_config(config, path)


def _from_config(config: Mapping[str, Any], path: Path) -> ModelArchitecture | Problem:
    try:
        return read_config(config, source=str(path))
    except UnreadableConfigError as error:
        fix = "Name the config.json of a language model, or declare the fields of the architecture instead."
        return _problem(f"{path}, {error.found}", error.allowed, fix)


def close_names(name: str) -> list[str]:
    """Return names of the catalogue that a name may stand for: misspelt, of a copy of the model, or cut short."""
    whole = {known.lower(): known for known in MODELS}
    by_end = {known.lower().rpartition("/")[2]: known for known in MODELS}
    lower = name.lower().rstrip("/")
    end = lower.rpartition("/")[2]
    if same := whole.get(lower) or by_end.get(end):
        return [same]
    close = [whole[each] for each in difflib.get_close_matches(lower, whole, n=_MOST_NAMES, cutoff=_LEAST_ALIKE)]
    close += [by_end[each] for each in difflib.get_close_matches(end, by_end, n=_MOST_NAMES, cutoff=_LEAST_ALIKE)]
    close += [known for short, known in by_end.items() if len(end) >= _LEAST_START and short.startswith(end)]
    return list(dict.fromkeys(close))[:_MOST_NAMES]


def _unknown(name: str) -> Problem:
    close = close_names(name)
    fix = f"Write {' or '.join(close)}, or" if close else "Name"
    return _problem(
        f"{name}, which is no model of the catalogue and no file",
        "a name of the catalogue (docs/models.md), the path of a Hugging Face config.json, or the fields themselves",
        f"{fix} the path of the model's config.json, from the working directory (with Pulumi, the project's folder).",
    )


def _problem(found: str, allowed: str, fix: str) -> Problem:
    return Problem(_PATH, found, allowed, fix)
