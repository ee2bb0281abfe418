"""The status of a lab as text for people and as data for programs."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from lab.cluster.status import PROVIDER_NOTE, LabStatus


def as_data(lab: LabStatus) -> dict[str, Any]:
    """The whole status, ready for JSON."""
    return {"all_run": lab.all_run, **asdict(lab), "provider_note": PROVIDER_NOTE}


def as_text(lab: LabStatus) -> str:
    """The whole status, for people."""
    parts = [
        (part.name, "runs" if part.running else "does not run", str(part.pid or ""), str(part.port or ""))
        for part in lab.parts
    ]
    tools = [(name, tool.version, tool.origin) for name, tool in lab.tools.items()]
    blocks = [
        _columns([("PART", "STATE", "PROCESS", "PORT"), *parts]),
        *(_block(f"The log of {part.name} ends:", part.log_end.splitlines()) for part in lab.parts),
        _columns([("TOOL", "VERSION", "FROM"), *tools]) if tools else "",
        _block(
            "CRDs with their upstream schema:", (f"{name} ({source})" for name, source in lab.upstream_crds.items())
        ),
        _block("CRDs that accept anything, because LWS_LAB_CRDS names no better ones:", lab.stand_in_crds),
        _block(
            "Statuses that the lab writes for lack of a controller, never proof of readiness:", lab.written_statuses
        ),
        _block(
            "Real controllers, which write the statuses of their kinds themselves:",
            (f"{part} ({program})" for part, program in lab.real_controllers.items()),
        ),
        _block(
            "Providers that stand in for AWS, without an account:",
            (f"{package} {version}" for package, version in lab.aws_providers.items()),
        ),
        PROVIDER_NOTE,
    ]
    return "\n\n".join(block for block in blocks if block)


def _block(title: str, lines: Iterable[str]) -> str:
    """A title with indented lines below; empty without lines."""
    indented = [f"  {line}" for line in lines]
    return "\n".join([title, *indented]) if indented else ""


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
