"""Secrets of a stack file: none is any more once it stands in an object, in the state, or in the log of a program."""

from pulumi_lws.planning.problems import Problem

SETTINGS_KEY = "pulumi-lws:platform"
"""Where a stack file has the settings of the platform, under ``config``."""

_ALLOWED = "a value in plain text: objects of the cluster and the state of the stack have it as it is"
_ELSEWHERE = (
    "Put it into a Secret of the namespace and name that: with secretEnvironment for a variable, with"
    " source.tokenSecret for the token of the hub. Write what is none in plain."
)


def secret_somewhere() -> Problem:
    """Return why a stack file with a secret is refused, where nobody knows its place: Pulumi only tells that it is."""
    fix = f"{_ELSEWHERE} lws plan says where it stands."
    return Problem(SETTINGS_KEY, "a secret (secure:)", _ALLOWED, fix)


def secret_at(path: str) -> Problem:
    """Return why a secret at a place of a stack file is refused."""
    above, _, name = path.rpartition(".")
    if above == "environment" or above.endswith(".environment"):
        fix = f"Put it into a Secret, and set secretEnvironment.{name} to its secret and key."
        return Problem(path, "a secret (secure:)", "a Secret of the namespace: whoever reads pods reads this", fix)
    return Problem(path, "a secret (secure:)", _ALLOWED, _ELSEWHERE)
