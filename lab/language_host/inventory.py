"""Prints as JSON what is installed beside the interpreter that runs it: ``python``, ``executable`` and ``packages``.

Each package has ``name``, ``version``, ``requires`` (names) and ``plugin``: the content of its ``pulumi-plugin.json``,
by which a provider's SDK says which plugin it needs, or null.
"""

import importlib.metadata
import importlib.util
import json
import platform
import re
import sys
from pathlib import Path
from typing import Any

NAME = re.compile(r"[-_.]+")


def normal(name: str) -> str:
    """The one spelling of a package's name that comparisons may rely on (PEP 503)."""
    return NAME.sub("-", name).lower()


def plugin_of(name: str) -> dict[str, Any] | None:
    """The plugin that a package says to need, None if it says nothing."""
    module = importlib.util.find_spec(NAME.sub("_", name))
    for folder in (module and module.submodule_search_locations) or ():
        file = Path(folder, "pulumi-plugin.json")
        if file.is_file():
            plugin: dict[str, Any] = json.loads(file.read_text())
            return plugin
    return None


def main() -> None:
    """Print the inventory."""
    packages: dict[str, dict[str, Any]] = {}
    for package in importlib.metadata.distributions():
        name = normal(package.name)
        requirements = [line for line in package.requires or () if "extra ==" not in line]
        if name not in packages:  # as for modules, the first on the path is the one in use
            packages[name] = {
                "name": name,
                "version": package.version,
                "requires": [normal(re.split(r"[^\w.-]", line)[0]) for line in requirements],
                "plugin": plugin_of(package.name),
            }
    inventory = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "packages": [packages[name] for name in sorted(packages)],
    }
    print(json.dumps(inventory))  # noqa: T201 - what it is run for


if __name__ == "__main__":
    main()
