"""What the tests on the real engine share."""

import shutil
import sys
from pathlib import Path

import pytest

from lab.language_host.install import install
from lab.tools.obtain import obtain
from lab.tools.progress import reporter


@pytest.fixture(scope="session")
def pulumi_cli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the program ``pulumi`` and, beside it, our language host."""
    folder = tmp_path_factory.mktemp("pulumi cli")
    shutil.copy2(obtain(["pulumi"], reporter())["pulumi"].binaries["pulumi"], folder / "pulumi")
    install(folder, Path(sys.executable))
    return folder
