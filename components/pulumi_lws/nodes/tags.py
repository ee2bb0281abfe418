"""Which AWS tags a stack file may set."""

import re
from collections.abc import Iterator, Mapping

from pulumi_lws.planning.problems import Problem

RESERVED = (
    "aws:",
    "eks:eks-cluster-name",
    "kubernetes.io/cluster",
    "karpenter.sh/",
    "karpenter.k8s.aws/",
    "eks.amazonaws.com/",
)
"""What a tag must not start with: AWS, EKS and Karpenter set those, and refuse them from anybody else."""

MOST = 40
"""AWS takes 50; up to 10 are set for you."""

_LONGEST_KEY, _LONGEST_VALUE = 128, 256
_CHARACTERS = re.compile(r"[\w .:/=+@-]*")
"""What every service takes. https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html"""


def tag_problems(tags: Mapping[str, str]) -> Iterator[Problem]:
    """Say which tags would be refused, with paths that start at ``tags``."""
    if len(tags) > MOST:
        yield Problem("tags", f"{len(tags)} tags", f"{MOST} at most: some are set for you", "Remove some.")
    for key, value in tags.items():
        path = f"tags.{key}"
        if key.lower().startswith(RESERVED):
            allowed = f"tags that do not start with {', '.join(RESERVED)}"
            yield Problem(path, "a tag that is not yours to set", allowed, "Use a name of your own.")
        elif not 0 < len(key) <= _LONGEST_KEY or len(value) > _LONGEST_VALUE:
            allowed = f"1 to {_LONGEST_KEY} characters for the name, at most {_LONGEST_VALUE} for the value"
            yield Problem(path, f"{len(key)} and {len(value)} characters", allowed, "Shorten it.")
        elif not (_CHARACTERS.fullmatch(key) and _CHARACTERS.fullmatch(value)):
            allowed = "letters, digits, spaces and . : / = + - @ _"
            yield Problem(path, repr(value), allowed, "Replace the others: some services of AWS refuse them.")
