"""Writing a plan to where it is wanted, in the form that is wanted; only that form is loaded."""

import shutil
from typing import TextIO

from pulumi_lws.cli.plan import Format
from pulumi_lws.cli.stream import print_lines
from pulumi_lws.planning.plan import Plan

_LEAST_WIDTH = 60


def draw(plan: Plan, form: Format, stream: TextIO) -> None:
    """Write a plan; text for people with colours, and as wide as the window, if ``stream`` is a terminal."""
    match form:
        case Format.JSON:
            from pulumi_lws.planning.formats import json  # noqa: PLC0415

            stream.write(json.render(plan))
        case Format.SVG:
            from pulumi_lws.planning.formats import svg  # noqa: PLC0415

            stream.write(svg.render(plan))
        case Format.TEXT:
            from pulumi_lws.planning.formats import text  # noqa: PLC0415

            if stream.isatty():
                columns = shutil.get_terminal_size((text.WIDTH, 0)).columns
                print_lines(text.lines_of(plan, max(min(columns, text.WIDTH), _LEAST_WIDTH)), stream)
            else:
                stream.write(text.plain(plan))
