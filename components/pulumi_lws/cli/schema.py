"""``lws schema``: the JSON schema of stack files, for editors."""


def schema() -> None:
    """Print the JSON schema of a stack file, for editors and for linters of YAML.

    A line at the top of the file names it: # yaml-language-server: $schema=settings.schema.json
    """
    # Loaded here, so that help and completion are quick.
    from pulumi_lws.cli.stream import deliver  # noqa: PLC0415
    from pulumi_lws.platform.schema import stack_schema_text  # noqa: PLC0415

    text = stack_schema_text()
    deliver(lambda stream: print(text, end="", file=stream))
