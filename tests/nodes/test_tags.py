"""Tags that AWS, EKS or Karpenter would refuse."""

from collections.abc import Mapping

import pytest

from pulumi_lws.nodes.tags import MOST, tag_problems


def test_a_tag_may_say_what_aws_lets_it_say() -> None:
    tags = {"team": "inference", "cost centre": "a/b:c=1+2-3@x.y_z", "example.com/owner": "", "é": "ü"}
    assert list(tag_problems(tags)) == []


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (
            {"AWS:team": "x"},
            (
                "tags.AWS:team: found a tag that is not yours to set; allowed: tags that do not start with aws:,"
                " eks:eks-cluster-name, kubernetes.io/cluster, karpenter.sh/, karpenter.k8s.aws/, eks.amazonaws.com/."
                " Use a name of your own."
            ),
        ),
        (
            {"team": "x" * 257},
            (
                "tags.team: found 4 and 257 characters; allowed: 1 to 128 characters for the name, at most 256 for the"
                " value. Shorten it."
            ),
        ),
        (
            {"team": "a;b"},
            (
                "tags.team: found 'a;b'; allowed: letters, digits, spaces and . : / = + - @ _."
                " Replace the others: some services of AWS refuse them."
            ),
        ),
        (
            {f"t{number}": "" for number in range(MOST + 1)},
            "tags: found 41 tags; allowed: 40 at most: some are set for you. Remove some.",
        ),
    ],
)
def test_a_wrong_tag_has_its_one_problem(tags: Mapping[str, str], message: str) -> None:
    assert [str(problem) for problem in tag_problems(tags)] == [message]
