"""Who reads the weights of models in S3."""

from pulumi_lws.cluster.eks.model_access import reader_policy
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.platform.weights import readers


def test_a_reader_reads_its_folders_and_nothing_else_of_their_buckets() -> None:
    assert reader_policy("aws", ["s3://models/glm-5", "s3://models/llama/", "s3://other"]) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "ReadWeights",
                "Effect": "Allow",
                "Action": "s3:GetObject",
                "Resource": [
                    "arn:aws:s3:::models/glm-5/*",
                    "arn:aws:s3:::models/llama/*",
                    "arn:aws:s3:::other/*",
                ],
            },
            {
                "Sid": "ListFolders0",
                "Effect": "Allow",
                "Action": "s3:ListBucket",
                "Resource": "arn:aws:s3:::models",
                "Condition": {"StringLike": {"s3:prefix": ["glm-5/*", "llama/*"]}},
            },
            {
                "Sid": "ListFolders1",
                "Effect": "Allow",
                "Action": "s3:ListBucket",
                "Resource": "arn:aws:s3:::other",
                "Condition": {"StringLike": {"s3:prefix": ["*"]}},
            },
        ],
    }


def test_pods_without_a_service_account_of_their_own_are_the_default_one() -> None:
    model = {"kind": "single-node-vllm", "model": "openai/gpt-oss-120b", "pool": "p5", "parallelism": {"tensor": 1}}
    platform = PlatformArgs.model_validate(
        {
            "cluster": {"kind": "existing", "name": "c", "context": "c"},
            "deployments": {
                "a": {**model, "source": {"kind": "s3", "uri": "s3://models/b"}},
                "b": {**model, "source": {"kind": "s3", "uri": "s3://models/a", "serviceAccount": "reader"}},
                "c": {**model, "source": {"kind": "s3", "uri": "s3://models/a"}},
                "d": model,
            },
        }
    )
    assert readers(platform) == {
        (None, "default"): ("s3://models/a", "s3://models/b"),
        (None, "reader"): ("s3://models/a",),
    }
