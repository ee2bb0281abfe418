"""Who reads the weights of models in S3."""

from collections.abc import Sequence

from pulumi_lws.cluster.eks.documents import Document, allow, document


def reader_policy(partition: str, folders: Sequence[str]) -> Document:
    """Return what reads folders of buckets, and nothing else of them.

    Args:
        partition: Partition of AWS.
        folders: Addresses of the folders, ``s3://bucket/folder``.
    """
    placed = [_bucket_and_prefix(folder) for folder in folders]
    return document(
        allow(
            "ReadWeights",
            "s3:GetObject",
            sorted({f"arn:{partition}:s3:::{bucket}/{prefix}*" for bucket, prefix in placed}),
        ),
        *(
            allow(
                f"ListFolders{number}",
                "s3:ListBucket",
                f"arn:{partition}:s3:::{bucket}",
                condition={
                    "StringLike": {"s3:prefix": sorted(f"{prefix}*" for name, prefix in placed if name == bucket)}
                },
            )
            for number, bucket in enumerate(sorted({bucket for bucket, _ in placed}))
        ),
    )


def _bucket_and_prefix(folder: str) -> tuple[str, str]:
    bucket, _, prefix = folder.removeprefix("s3://").partition("/")
    return bucket, f"{prefix.strip('/')}/" if prefix.strip("/") else ""
