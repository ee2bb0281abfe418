import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pulumi_lws.cli.main import app
from tests.conftest import PROJECT
from tests.reporting.events import complaint, violation, write

RECORDINGS = PROJECT / "tests" / "reporting" / "previews"
SCALE = str(RECORDINGS / "scale.json")


def lws(*arguments: str, standard_input: str | None = None) -> Result:
    return CliRunner().invoke(app, ["report", *arguments], input=standard_input)


def test_a_preview_comes_from_a_file_or_from_standard_input() -> None:
    piped = lws(standard_input=Path(SCALE).read_text(encoding="utf-8"))
    assert (piped.exit_code, piped.stderr) == (0, "")
    assert piped.stdout == lws(SCALE).stdout
    assert piped.stdout.splitlines()[1] == "### 🟢 `glm-5` scales from 2 to 3 groups"


def test_prices_of_ones_own_win(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("p5.48xlarge: 40\ng6e.12xlarge: {dollarsPerHour: 8, checked: 2026-11-01, source: contract 7}\n")
    ended = lws(SCALE, "--prices", str(file), "--price", "p5.48xlarge=10", "--format", "json")
    capacity = json.loads(ended.stdout)["capacity"]
    assert capacity["before"]["dollars_per_hour"] == 4 * 10 + 8
    said = lws(SCALE, "--prices", str(file)).stdout
    assert "- `g6e.12xlarge` $8.00/h: contract 7, 2026-11-01" in said
    assert "- `p5.48xlarge` $40.00/h: prices.yaml" in said


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("p5.48xlarge", "p5.48xlarge: write an instance type and dollars per hour, as p5.48xlarge=39.8"),
        ("p5.48xlarge=cheap", "p5.48xlarge=cheap: write dollars per hour, as 39.8"),
        ("p5.48xlarge=-1", "p5.48xlarge=-1: write dollars per hour, as 39.8"),
        ("p5.48xlarge=nan", "p5.48xlarge=nan: write dollars per hour, as 39.8"),
    ],
)
def test_a_price_that_is_none_is_said(given: str, reason: str) -> None:
    ended = lws(SCALE, "--price", given)
    assert (ended.exit_code, ended.stderr, ended.stdout) == (2, f"unreadable {reason}\n", "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- 1", "write a line for each instance type, as p5.48xlarge: 39.8"),
        ("a: [", "it is no YAML"),
    ],
)
def test_a_file_of_prices_that_is_none_is_said(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    ended = lws(SCALE, "--prices", str(file))
    assert (ended.exit_code, ended.stderr) == (2, f"unreadable {file}: {reason}\n")


def test_a_preview_that_failed_is_reported_and_fails(tmp_path: Path) -> None:
    ended = lws(write(tmp_path, complaint("error", "no such field")))
    assert ended.exit_code == 1
    assert "### 🔴 The preview failed, so nothing is applied" in ended.stdout
    assert "no such field" in ended.stdout


def test_policies_of_another_file_count(tmp_path: Path) -> None:
    file = write(tmp_path, violation("leader-ready", "mandatory", "spec: found nothing"))
    ended = lws(SCALE, "--policies", file)
    assert ended.exit_code == 1
    assert "### 🔴 Mandatory policies do not hold, so nothing is applied: `leader-ready`" in ended.stdout
    advisory = write(tmp_path, violation("leader-ready", "advisory", "spec: found nothing"))
    assert lws(SCALE, "--policies", advisory).exit_code == 0


def test_a_base_of_another_stack_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(Path(SCALE).read_text(encoding="utf-8").replace("urn:pulumi:local::", "urn:pulumi:prod::"))
    ended = lws(SCALE, "--base", str(other))
    assert ended.exit_code == 2
    assert ended.stderr == ("unreadable the base is a preview of pulumi-lws/prod, the change one of pulumi-lws/local\n")


def test_standard_input_is_read_once() -> None:
    assert lws("-", "--base", "-").exit_code == 2


def test_what_is_no_preview_ends_with_2_and_no_traceback() -> None:
    ended = lws(str(PROJECT / "README.md"))
    assert ended.exit_code == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith(f"unreadable {PROJECT / 'README.md'}: it is no JSON")


def test_a_report_needs_neither_pulumi_nor_yaml() -> None:
    program = (
        "import sys; from pulumi_lws.cli.main import app\n"
        f"try: app(['report', {SCALE!r}])\n"
        "except SystemExit: pass\n"
        "sys.exit(','.join(sorted({'pulumi', 'grpc', 'yaml'} & set(sys.modules))))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.stderr.strip() == ""
