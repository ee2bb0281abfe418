"""Entry of the host: ``__main__.py [flags of the engine] [address of the engine]``."""

import asyncio
import os
import sys
from pathlib import Path

# gRPC reads it when it is loaded. Its note that the engine has hung up would stand among the program's diagnostics.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

# The engine starts this file by its path, in the folder of the user's project.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lab.language_host.server import serve

if __name__ == "__main__":
    # The address comes last, after flags for logs and traces. A developer who starts the host by hand and attaches the
    # engine to it gives none: the handshake brings it.
    asyncio.run(serve(engine=sys.argv[-1] if len(sys.argv) > 1 else ""))
