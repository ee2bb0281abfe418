import subprocess
import sys

import pytest

from pulumi_lws.facts.vllm_flags import Flag, flag_table, version_of

TABLE = flag_table()


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("--max_num_seqs", "--max-num-seqs"),
        ("--max-num-seqs=64", "--max-num-seqs"),
        ("--kv-transfer-config.kv_connector_extra_config.backends+", "--kv-transfer-config"),
        ("--kv_transfer_config={}", "--kv-transfer-config"),
        ("-tp", "--tensor-parallel-size"),
        ("-cc.mode=3", "--compilation-config"),
        ("-O3", "--optimization-level"),
    ],
)
def test_a_flag_is_found_in_every_spelling_that_vllm_takes(word: str, name: str) -> None:
    flag = TABLE.find(word)
    assert flag is not None
    assert flag.name == name


def test_a_switch_may_be_denied_but_a_value_may_not() -> None:
    assert TABLE.find("--no-enable-prefix-caching") == TABLE.flags["--enable-prefix-caching"]
    assert TABLE.find("--no-max-num-seqs") is None


def test_a_switch_has_its_inverse_since_that_exists() -> None:
    assert TABLE.find("--disable-expert-parallel") == Flag("--disable-expert-parallel", (0, 33, 0), takes="nothing")
    assert TABLE.has("--disable-expert-parallel", (0, 33, 0))
    assert not TABLE.has("--disable-expert-parallel", (0, 30, 0))


def test_the_oldest_version_that_was_read_stands_for_older_ones() -> None:
    assert TABLE.has("--headless", (0, 9, 0))
    assert not TABLE.has("--nnodes", (0, 9, 0))


def test_between_two_versions_that_were_read_a_flag_is_neither_there_nor_missing() -> None:
    flag = TABLE.flags["--shutdown-timeout"]
    assert flag.first == (0, 18, 1)
    between = (0, 17, 0)
    assert not TABLE.has(flag.name, between)
    assert not TABLE.is_too_new(flag, between)
    assert TABLE.is_too_new(flag, (0, 16, 0))


def test_every_entry_names_versions_that_were_read_in_their_order() -> None:
    assert list(TABLE.versions) == sorted(TABLE.versions)
    for flag in TABLE.flags.values():
        assert flag.first in TABLE.versions
        assert flag.last is None or (flag.last in TABLE.versions and flag.first <= flag.last < TABLE.versions[-1])
        assert TABLE.has(flag.name, flag.first)
    assert list(TABLE.flags) == sorted(TABLE.flags)
    assert set(TABLE.short.values()) <= set(TABLE.flags)


def test_a_version_is_its_numbers() -> None:
    assert (version_of("v0.26"), version_of("0.26.0"), version_of("1.2.3")) == ((0, 26, 0), (0, 26, 0), (1, 2, 3))


def test_the_table_is_read_only_when_it_is_asked_for() -> None:
    program = (
        "import sys, pulumi_lws.serving.engines.catalogue, pulumi_lws.facts.vllm_flags as flags;"
        "print(flags.flag_table.cache_info().currsize)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout == "0\n"
