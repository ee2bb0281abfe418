"""Whatever stands where it must not: the answer is in the reader's words, and shows no secret."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import pulumi_lws
from pulumi_lws.declarations import Declaration
from pulumi_lws.load_tests.settings import LoadTestSettings
from pulumi_lws.planning.annotations import names_of, tags_of
from pulumi_lws.planning.problems import Problem
from pulumi_lws.planning.secrets import HIDDEN, is_for_a_secret, is_token, without_tokens
from pulumi_lws.planning.validation import problems_of
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.settings import DisaggregatedVllmSettings, MultiNodeVllmSettings, SecretKey


def below(model: type[Declaration]) -> Iterator[type[Declaration]]:
    yield model
    for inner in model.__subclasses__():
        yield from below(inner)


# Every declaration there is, whatever other tests have loaded.
for public in pulumi_lws.__all__:
    getattr(pulumi_lws, public)
DECLARATIONS = [model for model in dict.fromkeys(below(Declaration)) if model.__module__.startswith("pulumi_lws.")]
FIELDS = [(model, name) for model in DECLARATIONS for name in names_of(model)]
WRONG = ["§ §", "", 5, 1.5, True, None, [], ["a", 5], {}, {"zzz": 1}, {"kind": "zzz"}]
OF_PYDANTIC = ("nput should", "valid ", "instance of", "^", "regex", "pattern", "ssertion", "dictionary", "tuple")
TOKENS = [
    "hf_abcdefABCDEF0123",
    "sk-proj-abcdefABCDEF0123456789",
    "AKIAABCDEFGHIJKLMNOP",
    "ghp_abcdefABCDEF0123456789abcdefABCDEF01",
    "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
]


def said(model: type[Declaration], raw: Any) -> list[Problem]:
    with pytest.raises(ValidationError) as raised:
        model.model_validate(raw)
    return problems_of(raised.value, model)


def of_deployment(model: type[Declaration], **changes: Any) -> list[str]:
    raw = {"model": "zai-org/GLM-5-FP8", "pool": "p5", "parallelism": {"tensor": 8}} | changes
    if model is DisaggregatedVllmSettings:
        role = {"pool": "p5", "parallelism": {"tensor": 8}}
        raw = {"model": "zai-org/GLM-5-FP8", "prefill": role, "decode": role} | changes
    return [str(problem) for problem in said(model, raw)]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_no_field_is_answered_in_the_words_of_pydantic(wrong: Any) -> None:
    leaked = []
    for model, name in FIELDS:
        try:
            model.model_validate({name: wrong})
        except ValidationError as error:
            problems = [str(problem) for problem in problems_of(error, model)]
            leaked += [text for text in problems if any(word in text.split(";", 1)[-1] for word in OF_PYDANTIC)]
    assert leaked == []


@given(st.sampled_from(FIELDS), st.sampled_from(TOKENS), st.sampled_from(["", "name", "secret", "zzz"]))
def test_a_token_is_never_shown_wherever_it_stands(field: tuple[type[Declaration], str], token: str, key: str) -> None:
    model, name = field
    found = said(model, {name: {key: token} if key else token, token: 1})
    assert not [text for text in map(str, found) if token in text]


@given(st.text(max_size=20), st.sampled_from(TOKENS), st.text(max_size=20))
def test_no_problem_carries_a_token(before: str, token: str, after: str) -> None:
    text = f"{before} {token} {after}"
    assert token not in str(Problem(text, text, text, text))


@pytest.mark.parametrize(
    "name",
    ["sk-prod", "hf_cache", "task-1", "ghp", "AKIA", "zai-org/GLM-5-FP8", "eyJ", "sk-skinny_model_8b_instruct"],
)
def test_names_are_no_tokens(name: str) -> None:
    assert (is_token(name), without_tokens(name)) == (False, name)


@pytest.mark.parametrize(
    ("place", "hidden"),
    [
        (("secretEnvironment", "HF_TOKEN"), True),
        (("source", "tokenSecret"), True),
        (("environment", "AWS_SECRET_ACCESS_KEY"), True),
        (("credentials", 0), True),
        (("deployments", "token-server", "replicas"), False),
        (("parallelism", "tensor"), False),
        (("monkeys",), False),
    ],
)
def test_a_place_is_told_to_be_for_a_secret_by_its_own_words(place: tuple[int | str, ...], hidden: bool) -> None:
    assert is_for_a_secret(place) == hidden


def test_a_value_in_the_place_of_a_secret_is_answered_with_the_right_shape_and_not_shown() -> None:
    assert of_deployment(MultiNodeVllmSettings, secretEnvironment={"HF_TOKEN": "hf_abc"}) == [
        (
            f"secretEnvironment.HF_TOKEN: found {HIDDEN};"
            " allowed: a mapping such as {secret: hugging-face, key: HF_TOKEN}."
            " Put it into a Secret of the namespace, and name that and its key here."
        )
    ]
    assert of_deployment(MultiNodeVllmSettings, source={"kind": "hugging-face", "token": "hf_abc"}) == [
        (
            f"source.token: found an unknown field with the value {HIDDEN}; allowed: kind, tokenSecret, revision, path."
            " Write tokenSecret instead."
        )
    ]
    [problem] = of_deployment(MultiNodeVllmSettings, source={"kind": "hugging-face", "tokenSecret": TOKENS[0]})
    assert problem.startswith(f"source.tokenSecret: found {HIDDEN}; allowed: ")
    assert problem.endswith("Put it into a Secret of the namespace, and name that here.")


ANSWERS: dict[str, tuple[type[Declaration], dict[str, Any], str]] = {
    "text for a list": (
        MultiNodeVllmSettings,
        {"extraArguments": "--trust-remote-code"},
        "extraArguments: found '--trust-remote-code'; allowed: a list. Write extraArguments as a list, also of one.",
    ),
    "a number for a variable": (
        MultiNodeVllmSettings,
        {"environment": {"NCCL_DEBUG_SUBSYS": 1}},
        "environment.NCCL_DEBUG_SUBSYS: found 1; allowed: text. Write NCCL_DEBUG_SUBSYS in quotes.",
    ),
    "a pattern": (
        MultiNodeVllmSettings,
        {"source": {"kind": "s3", "uri": "my-models"}},
        "source.uri: found 'my-models'; allowed: text such as s3://bucket/folder. Change uri.",
    ),
    "an engine by its name": (
        MultiNodeVllmSettings,
        {"engine": "sglang"},
        "engine: found 'sglang'; allowed: a mapping such as {kind: sglang}. Write {kind: sglang}.",
    ),
    "a router by its name": (
        DisaggregatedVllmSettings,
        {"router": "gateway"},
        ("router: found 'gateway'; allowed: a mapping such as {kind: gateway}. Write {kind: gateway}."),
    ),
    "a union of no kind": (
        MultiNodeVllmSettings,
        {"source": {"uri": "s3://bucket/folder"}},
        "source.kind: found nothing; allowed: hugging-face, s3, volume, node. Choose one of them for kind.",
    ),
    "a count for a split": (
        MultiNodeVllmSettings,
        {"parallelism": 8},
        ("parallelism: found 8; allowed: a mapping of tensor, pipeline, data, expert. Write parallelism as a mapping."),
    ),
    "an abbreviation": (
        MultiNodeVllmSettings,
        {"parallelism": {"tensor": 8, "pp": 2}},
        (
            "parallelism.pp: found an unknown field with the value 2; allowed: tensor, pipeline, data, expert."
            " Write pipeline instead."
        ),
    ),
    "a name cut short": (
        MultiNodeVllmSettings,
        {"autoscaling": {"min": 1, "maxReplicas": 2}},
        "Write minReplicas instead.",
    ),
    "thousands": (
        MultiNodeVllmSettings,
        {"maxModelLen": "128k"},
        "maxModelLen: found '128k'; allowed: a whole number. Write 131072.",
    ),
    "a number in quotes": (
        MultiNodeVllmSettings,
        {"replicas": "2"},
        "replicas: found '2'; allowed: a whole number. Write 2 without quotes.",
    ),
    "what belongs to the roles": (
        DisaggregatedVllmSettings,
        {"replicas": 2},
        "Write it below prefill and decode.",
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_what_people_write_is_answered_with_what_they_mean(case: str) -> None:
    model, changes, answer = ANSWERS[case]
    [problem] = of_deployment(model, **changes)
    assert problem.endswith(answer)


@pytest.mark.parametrize("field", ["pool", "replicas", "parallelism", "autoscaling", "surge", "environment"])
def test_a_role_s_field_on_top_of_two_roles_is_moved_below_them(field: str) -> None:
    [problem] = of_deployment(DisaggregatedVllmSettings, **{field: 1})
    assert problem.endswith("Write it below prefill and decode.")


def test_an_architecture_without_its_numbers_is_one_problem() -> None:
    assert of_deployment(MultiNodeVllmSettings, architecture={}) == [
        (
            "architecture: found a mapping without parameters, weightBytes, layers, hiddenSize, maxPositions,"
            " attentionHeads, kvHeads, headSize; allowed: What the sizes follow from: a name of the catalogue, the path"
            " of a Hugging Face config.json (from the working directory; with Pulumi, the project's folder), or the"
            " fields themselves. Add them."
        )
    ]


def test_a_kind_never_has_to_be_said_in_python() -> None:
    kinds = [
        (model, field)
        for model in DECLARATIONS
        for name, field in names_of(model).items()
        if name == "kind" and get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1
    ]
    assert len(kinds) > 15
    assert [model.__name__ for model, field in kinds if {field.default} != tags_of(model)] == []


def test_a_key_of_a_secret_is_typed() -> None:
    assert SecretKey(secret="hugging-face", key="HF_TOKEN").key == "HF_TOKEN"
    assert [problem.path for problem in said(PlatformArgs, {})] == ["cluster"]


def test_a_number_of_tokens_is_no_secret() -> None:
    said_of = said(LoadTestSettings, {"deployment": "a", "inputTokens": 0, "outputTokens": -1, "load": None})
    assert [str(problem) for problem in said_of if "Tokens" in problem.path] == [
        "inputTokens: found 0; allowed: 1 or more. Change inputTokens.",
        "outputTokens: found -1; allowed: 1 or more. Change outputTokens.",
    ]
