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
}
"""The files of a pack, with places for the preset and the version."""

_REQUIREMENTS = "requirements.txt"
_REQUIRED = re.compile(r"(?!\s*(?:#|--)).*pulumi[-_.]lws.*", re.IGNORECASE)
"""A line by which pip installs this package: from an index, a wheel, a checkout or a repository."""
_PINNED = re.compile(r"pulumi-lws\[policy\]==[\w.+!-]+")
"""The same as this command writes it when it is told nothing else."""


def policies(
    *,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the pack; made where it is missing.")],
    preset: Annotated[
        Preset, typer.Option(help="What blocks: advisory nothing, standard errors, strict warnings too.")
    ] = Preset.STANDARD,
    requirement: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help="Line of requirements.txt by which pip installs this package, such as './WHEEL.whl[policy]'. "
            "Default: as it stands there, or else this version from an index.",
        ),
    ] = None,
) -> None:
    """Write a policy pack with the rules of the installed version, for pulumi preview --policy-pack FOLDER.

    Files that this command wrote before are brought up to date; if others are in the way, nothing is written. Of
    requirements.txt only the line of this package is ever changed.
    """
    from importlib import metadata  # noqa: PLC0415 - takes as long as all the rest of this module

    version = metadata.version("pulumi-lws")
    values = {"preset": preset.value, "semantic": _semantic(version)}
    texts = {folder / name: text.format(**values) for name, text in _FILES.items()}
    pinned = f"pulumi-lws[policy]=={version}"
    try:
        if foreign := [str(path) for path in texts if path.exists() and not _is_ours(path)]:
            reason = f"{', '.join(foreign)}: not written by this command, or changed since"
            raise typer.BadParameter(f"{reason}. Move it away, or choose another folder.", param_hint="FOLDER")
        required = _required(folder / _REQUIREMENTS, pinned, requirement)
        texts[folder / _REQUIREMENTS] = "".join(f"{line}\n" for line in required)
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{error.filename}: {error.strerror}", param_hint="FOLDER") from None
    typer.echo(f"Wrote {', '.join(path.name for path in texts)} in {folder}. Next:\n")
    typer.echo(f"    (cd {folder} && pulumi install)")
    typer.echo(f"    pulumi preview --policy-pack {folder}")
    if required == [pinned]:
        typer.echo(
            f"\npip takes {pinned} from its index. Where that has none, name a wheel or a checkout: --requirement."
        )


def _required(path: Path, pinned: str, wanted: str | None) -> list[str]:
    """Return the lines of requirements.txt with this package as wanted, or else as they have it, in this version.

    Raises:
        typer.BadParameter: No line names the package.
    """
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else [pinned]
    line, replaced = (pinned, _PINNED) if wanted is None else (wanted, _REQUIRED)
    for said, place in ((lines, str(path)), ([line], "--requirement")):
        if not any(map(_REQUIRED.fullmatch, said)):
            # Without what was found: the address of an index may hold a password.
            reason = f"found nothing that installs pulumi-lws; allowed: a line that names it, such as '{pinned}'"
            fix = "Behind a path that does not name it, write ' # pulumi-lws'."
            raise typer.BadParameter(f"{reason}. {fix}", param_hint=place)
    return [line if replaced.fullmatch(each) else each for each in lines]


def _semantic(version: str) -> str:
    """Return a version as the engine reads it: it takes 0.1.0-dev0 for what Python calls 0.1.0.dev0."""
    return re.sub(r"^(\d+\.\d+\.\d+)\.?(?=[a-z])", r"\1-", version)


def _is_ours(path: Path) -> bool:
    """Tell whether a file is as this command writes it, for any preset and version."""
    pattern = re.escape(_FILES[path.name])
    for place in ("preset", "semantic"):
        pattern = pattern.replace(re.escape(f"{{{place}}}"), r"[\w.+!-]+")
    return path.is_file() and re.fullmatch(pattern, path.read_text(encoding="utf-8", errors="replace")) is not None
