import socket
from collections.abc import Iterator

import pytest

from lab.cluster import ports
from lab.errors import LabError


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind((ports.LOOPBACK, 0))
        server.listen()
        yield server.getsockname()[1]


def test_every_purpose_gets_a_port_of_its_own() -> None:
    chosen = ports.choose(["a", "b", "c"], {}, {})
    assert list(chosen) == ["a", "b", "c"]
    assert len(set(chosen.values())) == 3


def test_an_earlier_port_is_taken_again_only_while_it_is_free(taken: int) -> None:
    (free,) = ports.choose(["a"], {}, {}).values()
    chosen = ports.choose(["a", "b"], {"a": free, "b": taken}, {})
    assert chosen["a"] == free
    assert chosen["b"] != taken


def test_a_pinned_port_is_taken_or_refused_in_one_sentence(taken: int) -> None:
    (free,) = ports.choose(["api"], {}, {}).values()
    assert ports.choose(["api"], {}, {"api": free}) == {"api": free}
    with pytest.raises(LabError) as refused:
        ports.choose(["api"], {}, {"api": taken})
    assert (refused.value.sentence, refused.value.way_out, refused.value.detail) == (
        f"Port {taken} on 127.0.0.1 is taken by another program.",
        "Name another one with --api-port, or leave the option out to have a free one chosen.",
        "",
    )
