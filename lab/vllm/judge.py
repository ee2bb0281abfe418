"""Judges command lines by vLLM's own parser and configuration. Runs in the environment that has vLLM, not in ours.

Reads a JSON list of command lines from standard input, each what follows ``vllm serve MODEL``, and writes a JSON list
of what vLLM makes of each: ``{"parallel": {…}}`` or ``{"error": "…"}``. With ``--flags`` it writes the parser's
options.
"""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

# Small, and divisible by whatever our launches split it into.
_MODEL = {
    "architectures": ["MixtralForCausalLM"],
    "model_type": "mixtral",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 64,
    "num_key_value_heads": 16,
    "num_hidden_layers": 16,
    "num_local_experts": 16,
    "num_experts_per_tok": 2,
    "vocab_size": 32000,
    "max_position_embeddings": 1048576,
    "torch_dtype": "bfloat16",
}

_SHOWN = (
    "world_size",
    "data_parallel_size",
    "data_parallel_size_local",
    "data_parallel_rank",
    "data_parallel_external_lb",
    "data_parallel_hybrid_lb",
    "data_parallel_master_ip",
    "data_parallel_rpc_port",
    "enable_expert_parallel",
    "nnodes",
    "node_rank_within_dp",
    "nnodes_within_dp",
    "master_addr",
    "master_port",
)


class Judge:
    """vLLM's parser, and a model on the disk for its configuration."""

    def __init__(self, folder: Path) -> None:
        os.environ |= {"HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_HOST_IP": "127.0.0.1"}
        # Without a GPU vLLM finds no platform, and without one its parser does not come up. What follows asks for it.
        platforms: Any = import_module("vllm.platforms")
        platforms._current_platform = import_module("vllm.platforms.cpu").CpuPlatform()  # noqa: SLF001 - no other way
        arg_utils = import_module("vllm.engine.arg_utils")
        cli_args = import_module("vllm.entrypoints.common.cli_args")
        flexible = import_module("vllm.utils.argparse_utils").FlexibleArgumentParser()
        self.parser: argparse.ArgumentParser = cli_args.make_arg_parser(flexible)
        self._validate = cli_args.validate_parsed_serve_args
        self._configuration = arg_utils.AsyncEngineArgs
        self._model = folder
        (folder / "config.json").write_text(json.dumps(_MODEL), encoding="utf-8")

    def judge(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the parallel configuration that vLLM makes of a command line, or why it makes none."""
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said):
                options = self.parser.parse_args(["model", *arguments])
        except SystemExit:
            return {"error": said.getvalue().splitlines()[-1]}
        except Exception as error:  # noqa: BLE001 - whatever the types of options raise is the answer
            return {"error": str(error)}
        try:
            self._validate(options)
            return {"parallel": self._parallel(options)}
        except Exception as error:  # noqa: BLE001 - whatever vLLM raises is the answer
            return {"error": str(error)}

    def _parallel(self, options: argparse.Namespace) -> dict[str, Any]:
        if options.distributed_executor_backend == "ray":
            # That wants Ray in this environment.
            return {}
        options.model = options.model_tag = str(self._model)
        options.skip_tokenizer_init, options.load_format, options.revision = True, "auto", None
        options.model_loader_extra_config = {}
        engine = self._configuration.from_cli_args(options)
        parallel = engine.create_engine_config(headless=options.headless).parallel_config
        return {name: getattr(parallel, name) for name in _SHOWN}


def flags_of(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """Return every option of a parser: what follows it, and the long names that mean the same."""
    takes = {0: "nothing", None: "one", "?": "one"}
    return {
        option: {
            "takes": takes.get(action.nargs, "many"),
            "same": sorted(name for name in action.option_strings if name.startswith("--")),
        }
        for action in parser._actions  # noqa: SLF001 - argparse has no other list of them
        for option in action.option_strings
    }


def main() -> None:
    """Answer on standard output, which vLLM would otherwise write into."""
    with contextlib.redirect_stdout(sys.stderr), tempfile.TemporaryDirectory() as folder:
        judge = Judge(Path(folder))
        if "--flags" in sys.argv:
            answer: Any = flags_of(judge.parser)
        else:
            answer = [judge.judge(arguments) for arguments in json.load(sys.stdin)]
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
