import json
import os
import pty
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pulumi_lws.cli.main import app
from pulumi_lws.cli.target import target_of
from pulumi_lws.facts.versions import PINS
from pulumi_lws.rules.rule import Target, major_and_minor

GOOD = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
REFUSED = GOOD.replace("name: a", "name: 1")
REGRETTED = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: a}
spec: {leaderWorkerTemplate: {restartPolicy: Default, workerTemplate: {spec: {containers: []}}}}
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lws(*arguments: str, standard_input: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=standard_input)


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        (GOOD, [], 0),
        (REFUSED, [], 1),
        (REGRETTED, [], 0),
        (REGRETTED, ["--fail-on", "warning"], 1),
        (GOOD + "---\n- x\n", [], 2),
        (REFUSED + "---\n- x\n", [], 2),
        ("", [], 0),
    ],
)
def test_the_exit_code_says_how_bad_it_is(text: str, arguments: list[str], code: int) -> None:
    Path("a.yaml").write_text(text)
    assert lws("check", "a.yaml", *arguments).exit_code == code


def test_a_missing_path_is_unreadable_and_the_rest_is_checked() -> None:
    Path("a.yaml").write_text(GOOD)
    ended = lws("check", "none.yaml", "a.yaml")
    assert (
        ended.stdout
        == "unreadable none.yaml: no such file or directory\n1 object, 0 errors, 0 warnings, 1 unreadable\n"
    )
    assert ended.exit_code == 2


def test_json_stands_alone_on_standard_output() -> None:
    ended = lws("check", "-", "--format", "json", "--kubernetes-version", "1.20", standard_input=GOOD)
    assert [found["file"] for found in json.loads(ended.stdout)["objects"]] == ["-"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--lws-version", "ten"],
        ["--kubernetes-version", "1"],
        ["--with", "kueue,slurm"],
        ["--format", "xml"],
        ["--fail-on", "unseen"],
    ],
)
def test_a_wrong_option_is_a_mistake_of_usage(arguments: list[str]) -> None:
    Path("a.yaml").write_text(GOOD)
    ended = lws("check", "a.yaml", *arguments)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "Invalid value for" in ended.stderr


def test_options_name_the_cluster() -> None:
    configured = Target(lws=(0, 8), gangs=frozenset({"kai"}))
    assert target_of(None, None, [], configured) == configured
    assert target_of("v0.9.0", "1.34", ["kueue, kai", "volcano"], configured) == Target(
        lws=(0, 9), kubernetes=(1, 34), gangs=frozenset({"kueue", "kai", "volcano"})
    )


def test_presets_and_a_configuration_say_how_much_rules_weigh() -> None:
    Path("a.yaml").write_text(REGRETTED)
    Path("off.json").write_text(json.dumps({"restart-policy-drift": "disabled", "service-links": "disabled"}))
    Path("wrong.json").write_text(json.dumps({"restart-policy": "disabled"}))
    assert lws("check", "a.yaml", "--preset", "strict").exit_code == 1
    assert lws("check", "a.yaml", "--preset", "strict", "--config", "off.json").exit_code == 0
    ended = lws("check", "a.yaml", "--config", "wrong.json")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "Invalid value for --config: restart-policy: there is no such policy." in " ".join(ended.stderr.split())


def test_the_choices_of_this_library_fail_nobody_who_adopts_it() -> None:
    Path("a.yaml").write_text(REGRETTED.replace("leaderWorkerTemplate: {", "leaderWorkerTemplate: {size: 4, "))
    assert lws("check", "a.yaml").exit_code == 1
    assert lws("check", "a.yaml", "--preset", "advisory").exit_code == 0


def test_without_options_the_cluster_is_as_this_library_makes_it() -> None:
    lws_version, kubernetes_version = (major_and_minor(PINS[name].version) for name in ("lws", "kubernetes"))
    assert Target() == Target(lws_version, kubernetes_version)


def test_the_version_is_that_of_the_package() -> None:
    assert lws("--version").stdout == metadata.version("pulumi-lws") + "\n"


def test_help_needs_nothing_that_takes_time_to_load() -> None:
    heavy = ["pulumi", "grpc", "pydantic", "yaml", "rich", "jsonschema_rs", "kubernetes_validate"]
    code = f"import pulumi_lws.cli.main, sys; print(*set(sys.modules) & set({heavy!r}))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "\n", "")


def test_a_check_loads_no_pulumi_and_no_second_schema_library() -> None:
    Path("a.yaml").write_text(GOOD)
    heavy = ["pulumi", "grpc", "rich", "jsonschema", "kubernetes_validate"]
    code = (
        "import sys; from pulumi_lws.checking.judging import check; from pulumi_lws.rules.rule import Target;"
        f"check(['a.yaml'], Target()); print(*set(sys.modules) & set({heavy!r}))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "\n", "")


def test_a_terminal_gets_colours_and_the_same_words() -> None:
    Path("a.yaml").write_text(REFUSED)
    controller, terminal = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    command = [sys.executable, "-m", "pulumi_lws.cli", "check", "a.yaml"]
    subprocess.run(command, stdout=terminal, env=environment, check=False)
    os.close(terminal)
    shown = os.read(controller, 100_000).decode()
    os.close(controller)
    assert "\x1b[1;31merror" in shown
    assert "1 object, 1 error, 0 warnings" in shown


def test_a_name_that_the_terminal_cannot_show_is_spelt_out() -> None:
    Path("a.yaml").write_text(GOOD.replace("name: a", "name: \N{GRINNING FACE}"))
    command = [sys.executable, "-m", "pulumi_lws.cli", "check", "a.yaml"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "Service \\U0001f600\n" in ended.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_report_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    command = [sys.executable, "-m", "pulumi_lws.cli", "check", str(file)]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "The report cannot be written: No space left on device.\n")
