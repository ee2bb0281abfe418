"""What GuideLLM is told: its scenario file, as version 0.8 reads it."""

from typing import Any

from pulumi_lws.facts.api_paths import APIS, ApiName
from pulumi_lws.load_tests.settings import ConcurrentLoad, LoadTestSettings
from pulumi_lws.load_tests.target import tokenizer_of, url_of
from pulumi_lws.serving.settings import DeploymentArgs

ASKED: tuple[ApiName, ...] = ("completions", "models")
"""What a test asks for."""

_WARM_UP = 0.1
"""Share of each step that is left out of the results, while the queue fills."""


def scenario(name: str, test: LoadTestSettings, args: DeploymentArgs, seed: int) -> dict[str, Any]:
    """Return the scenario file of a load test.

    Args:
        name: Name of the test.
        test: The test.
        args: The deployment that it tests.
        seed: What the prompts follow from. The same prompts again would be found in the prefix cache.
    """
    steps = list(test.steps)
    is_concurrent = isinstance(test.load, ConcurrentLoad)
    profile = {"kind": "concurrent", "streams": steps} if is_concurrent else {"kind": "poisson", "rate": steps}
    return {
        "metadata": {"labels": {"loadTest": name, "deployment": args.name}},
        "spec": {
            "backend": {
                "kind": "openai_http",
                "target": url_of(test, args),
                "model": args.served_model_name or args.model,
                # Without a chat template a prompt has the length that was asked for.
                "request_format": APIS["completions"].path,
                # The health of a server is not let through by gateways, and asks for no key.
                "api_routes": {"/health": APIS["models"].path.removeprefix("/")},
                "verify": True,
            },
            "profile": {**profile, "warmup": {"percent": _WARM_UP}},
            "constraints": [
                {"kind": "max_duration", "seconds": test.seconds},
                {"kind": "max_global_error_rate", "rate": test.max_error_rate, "stopping_scope": "all"},
            ],
            "tokenizer": {"kind": "huggingface_auto", "model": tokenizer_of(test, args).name},
            "data": [
                {
                    "kind": "synthetic_text",
                    "prompt_tokens": test.input_tokens,
                    "output_tokens": test.output_tokens,
                }
            ],
            "seed": {"kind": "static", "value": seed},
            "outputs": [{"kind": "json"}],
            # Of each request its times are kept, not its text.
            "metrics": {"kind": "generative", "sample_size": 0},
        },
    }
