"""The words of a container as the commands that run."""

import pytest

from pulumi_lws.rules.command_lines import Line, lines_of

SCRIPTS: dict[str, tuple[Line, ...]] = {
    "a b; c&&d | e &\nf": (("a", "b"), ("c",), ("d",), ("e",), ("f",)),
    'a \'b;\nc\' "d | \\"e\\" \\d" f\\;g': (("a", "b;\nc", 'd | "e" \\d', "f;g"),),
    "a \\\n  b": (("a", "b"),),
    "a 2>&1 b": (("a", "2>&1", "b"),),
    "a '' b": (("a", "", "b"),),
    "a # it's\nb c#d": (("a",), ("b", "c#d")),
    "(a; b)": (("a",), ("b",)),
    "a $([ $B = 0 ] || echo --c) d": (
        ("[", "$B", "=", "0", "]"),
        ("echo", "--c"),
        ("a", "$([ $B = 0 ] || echo --c)", "d"),
    ),
    "a $(LWS_GROUP_SIZE)": (("LWS_GROUP_SIZE",), ("a", "$(LWS_GROUP_SIZE)")),
    "a $((N - 1))": (("N", "-", "1"), ("a", "$((N - 1))")),
    "cat <<'EOF' >f\nit's\nEOF\na": (("cat", ">f"), ("a",)),
    "bash -lc 'a; b'; c": (("a",), ("b",), ("c",)),
    "a --b_c='d e' --f_g=h=i J_K=l": (("a", "--b-c", "d e", "--f-g", "h=i", "J_K=l"),),
    "a 'b": (("a", "'b"),),
    "": (),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_shell_splits_its_script(script: str) -> None:
    assert tuple(lines_of(("sh", "-c", script, "ignored"))) == SCRIPTS[script]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("vllm", "a;\nb | c", "--d_e=f g"), (("vllm", "a;\nb | c", "--d-e", "f g"),)),
        (("bash", "run.sh", "-c", "a; b"), (("bash", "run.sh", "-c", "a; b"),)),
        (("python3", "-c", "a; b"), (("python3", "-c", "a; b"),)),
        (("-cc", "a; b"), (("-cc", "a; b"),)),
        (("-c", "a; b"), (("a",), ("b",))),
        (("/usr/bin/env", "/bin/bash", "-euo", "pipefail", "-c", "--", "a; b"), (("a",), ("b",))),
        (("sh", "-c"), (("sh", "-c"),)),
        ((), ((),)),
    ],
)
def test_only_a_script_is_split(words: tuple[str, ...], expected: tuple[Line, ...]) -> None:
    assert tuple(lines_of(words)) == expected
