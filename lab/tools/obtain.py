"""Obtains programs: what is on this machine, else the cache, else the official download, else a build with Go."""

from collections.abc import Sequence

from lab.folders import cache_folder
from lab.tools.build import build
from lab.tools.cache import built_folder, cached, downloaded_folder, filling, only_one, require_space
from lab.tools.download import NotDownloadedError, download, remember_refusal, remembered_refusal, site
from lab.tools.golang import Go, find_go
from lab.tools.installed import installed
from lab.tools.obtained import Obtained
from lab.tools.progress import Reporter, Step
from lab.tools.table import TOOLS, Release, Tool

__all__ = ["Obtained", "obtain"]


def obtain(names: Sequence[str], report: Reporter) -> dict[str, Obtained]:
    """Finds, downloads or builds tools.

    Downloads come first, so that the time still to come is known before the first build; builds run one after another,
    since each uses all processors.

    Args:
        names: Names from ``lab.tools.table.TOOLS``; ``ALWAYS`` there are those that every lab needs.
        report: Where progress goes; ``lab.tools.progress.reporter()`` gives the one for this terminal.

    Returns:
        Each name with its programs, in the order asked for.

    Raises:
        LabError: If something is missing that only the user can provide.
    """
    return obtain_tools([TOOLS[name] for name in names], report)


def obtain_tools(tools: Sequence[Tool], report: Reporter) -> dict[str, Obtained]:
    """As ``obtain``, for tools that need not stand in the table."""
    found = {tool.name: here for tool in tools if (here := installed(tool) or cached(tool))}
    for tool in tools:
        if tool.name not in found and tool.release and (fetched := try_download(tool, tool.release, report)):
            found[tool.name] = fetched
    missing = sorted((tool for tool in tools if tool.name not in found), key=lambda tool: tool.minutes)
    found |= build_missing(missing, report)
    return {tool.name: found[tool.name] for tool in tools}


def build_missing(missing: Sequence[Tool], report: Reporter) -> dict[str, Obtained]:
    """Builds tools in the given order: short ones first, so that what cannot work says so early."""
    if not missing:
        return {}
    go = find_go(missing)
    require_space(sum(tool.megabytes for tool in missing), [cache_folder(), *go.caches])
    built = {}
    for number, tool in enumerate(missing, start=1):
        step = Step(
            title=f"building {tool.name}, {tool.what}",
            done=f"built {tool.name} {tool.version}",
            number=number,
            count=len(missing),
            usual=tool.minutes * 60,
            after=sum(later.minutes for later in missing[number:]) * 60,
        )
        built[tool.name] = make(tool, go, step, report)
    return built


def try_download(tool: Tool, release: Release, report: Reporter) -> Obtained | None:
    """The tool from its official archive; None, with one line that says why, if that cannot be had now."""
    base = site()
    if base is None:
        return None
    if why := remembered_refusal(base):
        report.note(f"no download of {tool.name}: lately {why}")
        return None
    with only_one(tool, report):
        if ready := cached(tool):
            return ready
        step = Step(f"downloading {tool.name}, {tool.what}", f"downloaded {tool.name} {tool.version}")
        try:
            with report.step(step), filling(downloaded_folder(tool)) as partial:
                download(tool, release, base, partial, report.tick)
        except NotDownloadedError as failure:
            report.note(f"no download of {tool.name}: {failure}")
            if failure.site_failed:
                remember_refusal(base, str(failure))
    return cached(tool)


def make(tool: Tool, go: Go, step: Step, report: Reporter) -> Obtained:
    """Builds a tool, unless another process did so while we waited for it."""
    with only_one(tool, report):
        if ready := cached(tool):
            return ready
        target = built_folder(tool)
        with report.step(step), filling(target) as partial:
            build(tool, go, partial, target.parent / "build.log", report.tick)
    return Obtained(target, {name: target / name for name in tool.binaries}, tool.version, "build")
