"""How every format names things, whatever strange text they hold."""

from pulumi_lws.checking.report import STANDARD_INPUT, ReadObject, Unreadable


def visible(text: str) -> str:
    """Return text on one line, with control characters spelt out: a name in a manifest must not steer a terminal."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def name_of(read: ReadObject) -> str:
    """Return how people name an object, such as ``LeaderWorkerSet models/glm-5``."""
    name = read.text("metadata", "name") or read.text("metadata", "generateName") or "without a name"
    namespace = read.text("metadata", "namespace")
    return visible(
        f"{read.text('kind') or 'object'} {namespace}/{name}"
        if namespace
        else f"{read.text('kind') or 'object'} {name}"
    )


def headline(read: ReadObject) -> str:
    """Return where an object stands and what it is."""
    return f"{file_name(read.file)}:{read.line} {name_of(read)}"


def described(error: Unreadable) -> str:
    """Return what could not be read."""
    document = "" if error.document is None else f", document {error.document}"
    return f"{file_name(error.file)}{document}"


def file_name(file: str) -> str:
    """Return how people name a file."""
    return "standard input" if file == STANDARD_INPUT else visible(file)
