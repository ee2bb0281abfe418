from collections.abc import Iterator

import pytest

from tests.ci.forge import Forge, standing


@pytest.fixture
def forge() -> Iterator[Forge]:
    """A stand-in for GitHub."""
    with standing() as forge:
        yield forge
