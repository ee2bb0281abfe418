"""``lws policies``: a policy pack for a team that has this package, and not its repository."""

import re
from pathlib import Path
from typing import Annotated

import typer

from pulumi_lws.rules.levels import Preset

_FILES = {
    "PulumiPolicy.yaml": """\
version: {semantic}
description: What a multi-node LLM deployment must hold to before it costs a GPU-hour
runtime:
  name: python
  options:
    toolchain: pip
    virtualenv: venv
""",
    "__main__.py": """\
from pulumi_lws.policies.pack import run

run(preset="{preset}")
""",
    "requirements.txt": "pulumi-lws[policy]=={version}\n",
}
"""The files of a pack, with places for the preset and the version."""


def policies(
    *,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the pack; made where it is missing.")],
    preset: Annotated[
        Preset, typer.Option(help="What blocks: advisory nothing, standard errors, strict warnings too.")
    ] = Preset.STANDARD,
) -> None:
    """Write a policy pack with the rules of the installed version, for pulumi preview --policy-pack FOLDER.

    Files that this command wrote before are brought up to date; if others are in the way, nothing is written.
    """
    from importlib import metadata  # noqa: PLC0415 - takes as long as all the rest of this module

    version = metadata.version("pulumi-lws")
    values = {"preset": preset.value, "version": version, "semantic": _semantic(version)}
    texts = {folder / name: text.format(**values) for name, text in _FILES.items()}
    try:
        if foreign := [str(path) for path in texts if path.exists() and not _is_ours(path)]:
            reason = f"{', '.join(foreign)}: not written by this command, or changed since"
            raise typer.BadParameter(f"{reason}. Move it away, or choose another folder.", param_hint="FOLDER")
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{error.filename}: {error.strerror}", param_hint="FOLDER") from None
    typer.echo(f"Wrote {', '.join(_FILES)} in {folder}. Next:\n")
    typer.echo(f"    (cd {folder} && pulumi install)")
    typer.echo(f"    pulumi preview --policy-pack {folder}")


def _semantic(version: str) -> str:
    """Return a version as the engine reads it: it takes 0.1.0-dev0 for what Python calls 0.1.0.dev0."""
    return re.sub(r"^(\d+\.\d+\.\d+)\.?(?=[a-z])", r"\1-", version)


def _is_ours(path: Path) -> bool:
    """Tell whether a file is as this command writes it, for any preset and version."""
    pattern = re.escape(_FILES[path.name])
    for place in ("preset", "version", "semantic"):
        pattern = pattern.replace(re.escape(f"{{{place}}}"), r"[\w.+!-]+")
    return path.is_file() and re.fullmatch(pattern, path.read_text(encoding="utf-8", errors="replace")) is not None
