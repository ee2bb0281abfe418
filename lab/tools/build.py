"""Builds one tool with Go: an empty module that asks for the tool's module, and one ``go build`` for each program."""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from lab.tools.failures import explain
from lab.tools.golang import Go, GoFailedError, run
from lab.tools.table import GO_NEEDED, Recipe, Tool


def build(tool: Tool, go: Go, partial: Path, log: Path, tick: Callable[[str], None]) -> None:
    """Builds a tool into ``result`` in a work folder.

    Args:
        tool: What to build.
        go: The toolchain.
        partial: The work folder, from ``lab.tools.cache.filling``.
        log: File for go's output; what it held before is dropped.
        tick: Called a few times a second with what is going on.

    Raises:
        LabError: If go fails; see ``lab.tools.failures``.
    """
    recipe, work, result = tool.recipe, partial / "work", partial / "result"
    work.mkdir()
    log.write_bytes(b"")
    (work / "go.mod").write_text(module_file(tool))

    def go_command(*arguments: str, doing: str) -> str:
        try:
            return run(go, arguments, work, log, lambda: tick(doing))
        except GoFailedError as failure:
            raise explain(str(failure), tool, log) from None

    go_command("get", *wanted_packages(recipe), doing="downloading modules")
    module = Path(go_command("list", "-m", "-f", "{{.Dir}}", recipe.module, doing="downloading modules").strip())
    copy([*(recipe.source.iterdir() if recipe.source else ()), *(module / file for file in recipe.embeds)], work)
    if recipe.schema:
        stamp_version(module / recipe.schema, work, tool.version)
    flags = ["-trimpath", "-ldflags", linker_flags(tool), *(["-tags", ",".join(recipe.tags)] if recipe.tags else [])]
    for number, (binary, package) in enumerate(recipe.packages.items(), start=1):
        doing = f"{binary}, {number} of {len(recipe.packages)}" if len(recipe.packages) > 1 else "compiling"
        go_command("build", *flags, "-o", str(result / binary), package, doing=doing)
    for folder, patterns in recipe.carries.items():
        (result / folder).mkdir()
        copy([file for pattern in patterns for file in module.glob(pattern)], result / folder)


def module_file(tool: Tool) -> str:
    """The go.mod to begin with; ``go get`` adds what is required, the same each time for the same versions."""
    replaces = [f"replace {module} => {other}" for module, other in tool.recipe.replaces.items()]
    return "\n".join([f"module lab/{tool.name}", "", f"go {GO_NEEDED}", "", *replaces, ""])


def wanted_packages(recipe: Recipe) -> list[str]:
    """Packages, each with the version, that have to be in the module before it can be built."""
    imported = [f"{recipe.module}/{package}" for package in recipe.imports]
    built = [package for package in recipe.packages.values() if package != "."]
    return [f"{package}@{recipe.version}" for package in [*imported, *built]]


def linker_flags(tool: Tool) -> str:
    """Flags that leave out the symbol tables, which halves the files, and stamp the version."""
    stamp = f" -X {tool.recipe.stamp.format(version=tool.version)}" if tool.recipe.stamp else ""
    return f"-s -w{stamp}"


def copy(files: Iterable[Path], folder: Path) -> None:
    """Copies files into a folder, not their modes: Go keeps modules read-only."""
    for file in files:
        shutil.copyfile(file, folder / file.name)


def stamp_version(schema: Path, folder: Path, version: str) -> None:
    """Copies a Pulumi schema with a version put in: the engine compares it with the one that the SDK asks for."""
    document = json.loads(schema.read_bytes())
    (folder / schema.name).write_text(json.dumps(document | {"version": version}, separators=(",", ":")))
