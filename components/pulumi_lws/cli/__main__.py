"""Lets ``python -m pulumi_lws.cli`` be ``lws``."""

from pulumi_lws.cli.main import app

app(prog_name="lws")
