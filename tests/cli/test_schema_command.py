from typer.testing import CliRunner

from pulumi_lws.cli.main import app
from tests.conftest import PROJECT


def test_the_schema_is_the_one_beside_the_stack_files() -> None:
    result = CliRunner().invoke(app, ["schema"])
    assert (result.exit_code, result.stdout) == (
        0,
        (PROJECT / "stacks" / "settings.schema.json").read_text(encoding="utf-8"),
    )
