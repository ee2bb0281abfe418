from collections.abc import Callable
from pathlib import Path

import pytest

from lab.tools.failures import SHOWN_LINES, explain
from lab.tools.table import Tool

LOG = Path("/cache/greeter/build.log")
REFUSED = "Go could not download the module k8s.io/api v0.35.4 that greeter is built from: {}."

OUTPUTS = {
    "proxy answers 403": (
        "go: k8s.io/api@v0.35.4: reading https://modules.example/k8s.io/api/@v/v0.35.4.mod: 403 Forbidden",
        REFUSED.format("the server refused it"),
    ),
    "proxy answers 404": (
        "go: k8s.io/api@v0.35.4: reading https://modules.example/k8s.io/api/@v/v0.35.4.mod: 404 Not Found",
        REFUSED.format("the server does not have it"),
    ),
    "name unknown": (
        'go: k8s.io/api@v0.35.4: Get "https://modules.example/x": lookup modules.example on [::1]:53: no such host',
        REFUSED.format("the name of the server is not known"),
    ),
    "refused": (
        'go: k8s.io/api@v0.35.4: Get "https://modules.example/x": dial tcp 10.0.0.1:443: connect: connection refused',
        REFUSED.format("the connection was refused"),
    ),
    "no answer": (
        'k8s.io/api@v0.35.4: Get "https://modules.example/x": dial tcp 10.0.0.1:443: i/o timeout',
        REFUSED.format("there was no answer in time"),
    ),
    "own authority": (
        'go: k8s.io/api@v0.35.4: Get "https://modules.example/x": tls: failed to verify: x509: unknown authority',
        REFUSED.format("the certificate of the server is not trusted"),
    ),
    "tampered": (
        "go: downloading k8s.io/api v0.35.4\nverifying k8s.io/api@v0.35.4: checksum mismatch\n\tdownloaded: h1:x\n",
        REFUSED.format("what was served does not have the expected checksum"),
    ),
    "sums not reachable": (
        'k8s.io/api@v0.35.4: verifying module: Get "https://sums.example/k8s.io/api@v0.35.4": network is unreachable',
        REFUSED.format("there is no network"),
    ),
    "disk full": (
        "# k8s.io/api\nwrite /tmp/go-build1/b001/_pkg_.a: no space left on device",
        "The disk was full while greeter was built.",
    ),
    "no memory": (
        "# k8s.io/api\n/usr/local/go/pkg/tool/linux_amd64/compile: signal: killed",
        "A compiler was killed while greeter was built, most likely for lack of memory.",
    ),
    "old toolchain": (
        "go: sigs.k8s.io/karpenter@v1.14.1 requires go >= 1.26.6 (running go 1.26.1; GOTOOLCHAIN=local)",
        "greeter needs Go 1.26.6 or newer, but Go 1.26.1 is on PATH.",
    ),
    "does not compile": ("# k8s.io/api@v0.35.4\nmain.go:4:2: undefined: x", "Building greeter 1.2.3 failed."),
}


@pytest.mark.parametrize(("printed", "want_sentence"), OUTPUTS.values(), ids=OUTPUTS)
def test_each_failure_has_its_own_sentence(a_greeter: Callable[..., Tool], printed: str, want_sentence: str) -> None:
    assert explain(printed, a_greeter(), LOG).sentence == want_sentence


@pytest.mark.parametrize("printed", [printed for printed, sentence in OUTPUTS.values() if "download" in sentence])
def test_a_refused_download_never_names_a_server(a_greeter: Callable[..., Tool], printed: str) -> None:
    error = explain(printed, a_greeter(), LOG)
    assert "example" not in f"{error} {error.detail}"


def test_a_failed_build_shows_the_end_of_the_log_and_where_all_of_it_is(a_greeter: Callable[..., Tool]) -> None:
    lines = [f"line {number}" for number in range(100)]
    error = explain("\n".join(lines), a_greeter(), LOG)
    assert error.way_out == f"The whole log is in {LOG}."
    assert error.detail.splitlines() == lines[-SHOWN_LINES:]
