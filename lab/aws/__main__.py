"""Entry of the providers: ``__main__.py <aws or eks> <folder of accounts> <kubeconfig> <address of the engine>``."""

import asyncio
import os
import sys
from pathlib import Path

# gRPC reads it when it is loaded. Its note that the engine has hung up would stand among the program's diagnostics.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

# The engine starts this file by its path, in the folder of the user's project.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import grpc.aio
from pulumi.runtime.proto import provider_pb2_grpc

from lab.aws.cluster_access import ClusterAccess
from lab.aws.eks.provider import EksProvider
from lab.aws.provider import AwsProvider
from lab.language_host.answering import answer_until_ended


def main(package: str, folder: Path, kubeconfig: Path, engine: str) -> None:
    """Serve one of the packages."""
    access = ClusterAccess(kubeconfig, folder / "credential.json")
    if package == "eks":
        _serve(EksProvider(access, engine))
        return
    # The engine's address names its run.
    provider = AwsProvider(folder, engine.rpartition(":")[2], access)
    _serve(provider)
    provider.close()


def _serve(provider: provider_pb2_grpc.ResourceProviderServicer) -> None:
    def register(server: grpc.aio.Server) -> None:
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)

    asyncio.run(answer_until_ended(register))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[-1])
