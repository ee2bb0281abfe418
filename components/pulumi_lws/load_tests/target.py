"""Where a load test sends its requests, and what it needs to make them."""

from collections.abc import Iterable
from dataclasses import dataclass

from pulumi_lws.load_tests.settings import LoadTestSettings
from pulumi_lws.serving.render import render
from pulumi_lws.serving.settings import DeploymentArgs, RoleSettings, SecretKey, roles_settings
from pulumi_lws.serving.sources.settings import HuggingFaceSource, VolumeSource

TOKENIZER = "/tokenizer"
"""Where the container sees a volume that holds the tokenizer."""

HUB_ADDRESS = "HF_ENDPOINT"
"""Variable of a hub of one's own."""


@dataclass(frozen=True)
class Tokenizer:
    """What prompts are measured with.

    Attributes:
        name: Hugging Face id, or folder in the container; empty where neither is known.
        claim: Claim that the folder lies on; None for the hub.
    """

    name: str
    claim: str | None = None


def url_of(test: LoadTestSettings, args: DeploymentArgs) -> str:
    """Return the address of the API; empty where only a Gateway knows it."""
    return test.url or render(args).url


def api_key_of(test: LoadTestSettings, args: DeploymentArgs) -> SecretKey | None:
    """Return the key that the API asks for."""
    return test.api_key or _secret(args, "VLLM_API_KEY")


def tokenizer_of(test: LoadTestSettings, args: DeploymentArgs) -> Tokenizer:
    """Return the tokenizer: the declared one, that of the deployment's volume, or the model's on the hub."""
    if test.tokenizer_claim:
        return Tokenizer(_folder(test.tokenizer_path), test.tokenizer_claim)
    if test.tokenizer:
        return Tokenizer(test.tokenizer)
    if isinstance(args.source, VolumeSource):
        return Tokenizer(_folder(args.source.path), args.source.claim)
    return Tokenizer("" if args.model.startswith("/") else args.model)


def hub_address_of(args: DeploymentArgs) -> str | None:
    """Return the address of a hub of one's own; None for huggingface.co."""
    return next((role.environment[HUB_ADDRESS] for role in _roles(args) if HUB_ADDRESS in role.environment), None)


def hub_token_of(args: DeploymentArgs) -> SecretKey | None:
    """Return the token that opens the model on the hub."""
    if isinstance(args.source, HuggingFaceSource) and args.source.token_secret:
        return SecretKey(secret=args.source.token_secret, key="HF_TOKEN")
    return _secret(args, "HF_TOKEN")


def _secret(args: DeploymentArgs, variable: str) -> SecretKey | None:
    return next((found for role in _roles(args) if (found := role.secret_environment.get(variable))), None)


def _roles(args: DeploymentArgs) -> Iterable[RoleSettings]:
    return roles_settings(args).values()


def _folder(path: str) -> str:
    return "/".join([TOKENIZER, *filter(None, path.split("/"))])
