import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from typer.testing import CliRunner, Result

from pulumi_lws.cli.main import app
from tests.conftest import PROJECT, Golden

KEY = "pulumi-lws:platform"

FORMS = {"text": "txt", "json": "json", "svg": "svg"}
"""Forms of a plan, each with the ending of its reviewed file."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def platform() -> dict[str, Any]:
    """Two deployments: groups on islands, and two roles that share the nodes of a plain pool."""
    return {
        "cluster": {"kind": "existing", "name": "prod", "context": "prod"},
        "pools": {
            "p5": {"instanceType": "p5.48xlarge", "islands": 3, "nodesPerIsland": 2},
            "packed": {"instanceType": "p5.48xlarge", "nodes": 3},
        },
        "quotas": {"p": 1728},
        "deployments": {
            "glm-5": {
                "kind": "multi-node-vllm",
                "model": "zai-org/GLM-5-FP8",
                "source": {"kind": "s3", "uri": "s3://models/glm-5"},
                "maxModelLen": 131072,
                "pool": "p5",
                "replicas": 2,
                "parallelism": {"tensor": 8, "pipeline": 2},
            },
            "gpt-oss": {
                "kind": "disaggregated-vllm",
                "model": "openai/gpt-oss-120b",
                "source": {"kind": "s3", "uri": "s3://models/gpt-oss"},
                "prefill": {"pool": "packed", "replicas": 4, "parallelism": {"tensor": 2}},
                "decode": {"pool": "packed", "replicas": 2, "parallelism": {"tensor": 4}},
            },
        },
    }


def deployment(**changes: Any) -> dict[str, Any]:
    declared = platform()
    role = {"name": "glm-5", "namespace": "models", "pools": {"p5": declared["pools"]["p5"]}}
    model: dict[str, Any] = declared["deployments"]["glm-5"]
    return role | model | changes


def write(settings: Any, name: str = "Pulumi.prod.yaml") -> None:
    Path(name).write_text(yaml.safe_dump({"config": {KEY: settings}, "encryptionsalt": "v1:abc"}))


def lws(*arguments: str, standard_input: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=standard_input)


def planned(*arguments: str, standard_input: str | None = None) -> dict[str, Any]:
    ended = lws("plan", *arguments, "--format", "json", standard_input=standard_input)
    assert ended.exit_code in {0, 1}, ended.output
    value: dict[str, Any] = json.loads(ended.stdout)
    return value


def test_every_form_is_as_reviewed(golden: Golden) -> None:
    write(platform())
    ended = {ending: lws("plan", "Pulumi.prod.yaml", "--format", form) for form, ending in FORMS.items()}
    assert [(each.exit_code, each.stderr) for each in ended.values()] == [(0, "")] * 3
    golden.compare_files("plan", {f"prod.{ending}": each.stdout for ending, each in ended.items()})


def test_what_runs_on_ray_is_drawn_beside_deployments_as_reviewed(golden: Golden) -> None:
    file = str(PROJECT / "examples" / "plan" / "Pulumi.ray.yaml")
    ended = {ending: lws("plan", file, "--format", form) for form, ending in FORMS.items()}
    assert [(each.exit_code, each.stderr) for each in ended.values()] == [(0, "")] * 3
    golden.compare_files("plan-ray", {f"ray.{ending}": each.stdout for ending, each in ended.items()})


@pytest.mark.parametrize("file", sorted((PROJECT / "stacks").glob("Pulumi.*.yaml")), ids=lambda path: path.name)
def test_every_stack_of_ours_fits(file: Path) -> None:
    plan = planned(str(file))
    assert (plan["stack"], plan["applicable"]) == (file.name.split(".")[1], True)


def test_groups_are_laid_on_islands_and_pods_on_nodes_they_share() -> None:
    write(platform())
    plan = planned("Pulumi.prod.yaml")
    assert {
        (role["name"], role["role"]): [(group["island"], group["nodes"]) for group in role["groups"]]
        for role in plan["deployments"]
    } == {
        ("glm-5", "serve"): [("p5-0", ["p5-0/0", "p5-0/1"]), ("p5-1", ["p5-1/0", "p5-1/1"])],
        ("gpt-oss", "prefill"): [(None, ["packed/1"])] * 4,
        ("gpt-oss", "decode"): [(None, ["packed/0"])] * 2,
    }
    assert plan["headroom"]["needed_gpus"] <= plan["headroom"]["available_gpus"]


def test_a_problem_of_severity_error_makes_it_fail_and_the_picture_is_still_there() -> None:
    settings = platform()
    settings["deployments"]["glm-5"]["replicas"] = 4
    write(settings)
    ended = lws("plan", "Pulumi.prod.yaml")
    assert ended.exit_code == 1
    assert ended.stdout.startswith("prod does not work")
    assert "A2 ■■" in ended.stdout
    assert "deployments.glm-5.replicas" in ended.stdout


def test_quota_and_start_budget_are_judged_for_the_whole_stack() -> None:
    settings = platform()
    # Six nodes run something, nine could.
    settings["quotas"] = {"p": 1200}
    glm_5 = settings["deployments"]["glm-5"]
    glm_5 |= {"source": {"kind": "volume", "claim": "models"}, "startBudgetMinutes": 90}
    write(settings)
    problems = planned("Pulumi.prod.yaml")["problems"]
    assert [(problem["path"], problem["severity"]) for problem in problems] == [
        ("deployments.glm-5.startBudgetMinutes", "error"),
        ("quotas.p", "warning"),
    ]


def test_settings_that_cannot_be_read_leave_their_problems() -> None:
    settings = platform()
    settings["pools"]["p5"]["islands"] = -1
    write(settings)
    plan = planned("Pulumi.prod.yaml")
    assert (plan["applicable"], plan["deployments"]) == (False, [])
    assert [problem["path"] for problem in plan["problems"]] == ["pools.p5.islands"]


def test_the_file_of_one_deployment_is_planned_like_the_stack_that_has_it() -> None:
    write(platform())
    Path("glm-5.yaml").write_text(yaml.safe_dump(deployment()))
    alone, in_stack = planned("glm-5.yaml"), planned("Pulumi.prod.yaml", "--name", "glm-5")
    assert alone["stack"] == "glm-5"
    assert (alone["pools"], alone["deployments"]) == (in_stack["pools"], in_stack["deployments"])


def test_paths_of_a_single_deployment_are_those_of_its_file() -> None:
    Path("glm-5.yaml").write_text(yaml.safe_dump(deployment(replicas=4, pol="p5")))
    assert [problem["path"] for problem in planned("glm-5.yaml")["problems"]] == ["pol"]
    Path("glm-5.yaml").write_text(yaml.safe_dump(deployment(replicas=4)))
    assert "replicas" in [problem["path"] for problem in planned("glm-5.yaml")["problems"]]


def test_standard_input_is_read_too() -> None:
    text = yaml.safe_dump({"config": {KEY: platform()}})
    assert planned("-", standard_input=text)["stack"] == "stdin"


def test_settings_may_be_json_as_pulumi_writes_them_without_path() -> None:
    write(json.dumps(platform()))
    assert planned("Pulumi.prod.yaml")["applicable"]


@pytest.mark.parametrize(
    ("place", "fix"),
    [
        ("replicas", "Put it into a Secret of the namespace and name that"),
        ("pool", "Put it into a Secret of the namespace and name that"),
        ("servedModelName", "Put it into a Secret of the namespace and name that"),
        ("environment.PROXY", "Put it into a Secret, and set secretEnvironment.PROXY to its secret and key."),
        ("environment.HF_TOKEN", "Put it into a Secret, and set secretEnvironment.HF_TOKEN to its secret and key."),
    ],
)
def test_a_secret_is_refused_with_its_one_problem_and_never_shown(place: str, fix: str) -> None:
    settings = platform()
    field, _, variable = place.partition(".")
    secret = {"secure": "v1:CIPHER"}
    settings["deployments"]["glm-5"][field] = {variable: secret} if variable else secret
    write(settings)
    ended = lws("plan", "Pulumi.prod.yaml", "--format", "json")
    (problem,) = json.loads(ended.stdout)["problems"]
    assert (ended.exit_code, problem["severity"]) == (1, "error")
    assert (problem["path"], problem["found"]) == (f"deployments.glm-5.{place}", "a secret (secure:)")
    assert problem["fix"].startswith(fix)
    assert "CIPHER" not in ended.output


def test_only_named_deployments_are_shown_with_all_that_shares_their_pools() -> None:
    write(platform())
    plan = planned("Pulumi.prod.yaml", "--name", "gpt-oss")
    assert [pool["name"] for pool in plan["pools"]] == ["packed"]
    assert [role["role"] for role in plan["deployments"]] == ["prefill", "decode"]
    ended = lws("plan", "Pulumi.prod.yaml", "--name", "gpt")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "gpt: choose from glm-5, gpt-oss" in ended.stderr


def on_ray() -> dict[str, Any]:
    """A stack with something of both kinds on Ray, and a deployment beside them."""
    text = (PROJECT / "examples" / "plan" / "Pulumi.ray.yaml").read_text(encoding="utf-8")
    settings: dict[str, Any] = yaml.safe_load(text)["config"][KEY]
    return settings


@pytest.mark.parametrize("name", ["llama", "jobs"])
def test_the_file_of_something_on_ray_is_planned_like_the_stack_that_has_it(name: str) -> None:
    settings = on_ray()
    del settings["deployments"]
    write(settings)
    alone = settings["ray"][name] | {"name": name, "pools": settings["pools"]}
    Path("alone.yaml").write_text(yaml.safe_dump(alone))
    parts = ("stack", "deployments", "problems")
    assert [planned("alone.yaml")[part] for part in parts] == [
        name,
        planned("Pulumi.prod.yaml", "--name", name)["deployments"],
        [],
    ]
    most = "maxCopies" if name == "llama" else "maxWorkers"
    Path("alone.yaml").write_text(yaml.safe_dump(alone | {most: 9}))
    assert [problem["path"] for problem in planned("alone.yaml")["problems"]] == [most]


def test_what_runs_on_ray_is_shown_by_name_with_all_that_shares_its_pool() -> None:
    write(on_ray())
    plan = planned("Pulumi.prod.yaml", "--name", "llama")
    assert [(role["name"], role["role"]) for role in plan["deployments"]] == [("gpt-oss", "serve"), ("llama", "ray")]
    assert {risk["subject"] for risk in plan["risks"]} == {"pools.p5", "ray.llama"}
    ended = lws("plan", "Pulumi.prod.yaml", "--name", "lama")
    assert "lama: choose from gpt-oss, jobs, llama" in ended.stderr


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is nothing in it"),
        ("# only a comment\n", "there is nothing in it"),
        ("- a\n", "the file is a list, not a mapping"),
        ("text\n", "the file is a single value, not a mapping"),
        ("a: [\n", "line 2:"),
        ("a: 1\n---\nb: 2\n", "more than one document"),
        ("a: 1\n", "neither a stack file"),
        ("apiVersion: v1\nkind: Service\n", "lws check judges Kubernetes manifests"),
        ("apiVersion: v1\n---\napiVersion: v1\n", "more than one document; lws check judges Kubernetes manifests"),
        ("config: {aws:region: us-east-1}\n", f"config has no {KEY}, only aws:region"),
        (f"config: {{{KEY}: [a]}}\n", f"{KEY} is a list, not a mapping"),
        (f"config: {{{KEY}: null}}\n", f"{KEY} is nothing, not a mapping"),
        (f"config: {{{KEY}: text}}\n", f"{KEY} is text and no JSON"),
        (f"config: {{{KEY}: {{secure: v1:CIPHER}}}}\n", f"{KEY} is a secret as a whole"),
        (BOMB, "more than 1,000,000 values"),
    ],
)
def test_what_cannot_be_planned_is_said_in_a_sentence(text: str, reason: str) -> None:
    Path("a.yaml").write_text(text)
    ended = lws("plan", "a.yaml", "--format", "json")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("unreadable a.yaml: ")
    assert reason in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_missing_file_a_folder_and_a_file_too_large_are_unreadable() -> None:
    Path("folder").mkdir()
    Path("binary.yaml").write_bytes(b"\xff\x00\xff")
    with Path("large.yaml").open("wb") as large:
        large.truncate(33 * 2**20)
    assert [lws("plan", name).stderr for name in ("none.yaml", "folder", "binary.yaml", "large.yaml")] == [
        "unreadable none.yaml: no such file or directory\n",
        "unreadable folder: is a folder; name one stack file: there is none in it\n",
        "unreadable binary.yaml: the file is no UTF-8 text: byte 0 is 0xff\n",
        "unreadable large.yaml: the file has more than 32 MiB; split it\n",
    ]


def test_a_folder_is_answered_with_the_stack_files_in_it() -> None:
    for stack in ("prod", "dev"):
        write(platform(), f"Pulumi.{stack}.yaml")
    assert (
        lws("plan", ".").stderr == "unreadable .: is a folder; name one stack file: Pulumi.dev.yaml, Pulumi.prod.yaml\n"
    )


def test_a_model_that_nobody_knows_is_said_not_to_be_checked() -> None:
    settings = platform()
    settings["deployments"]["glm-5"]["model"] = "me/my-model"
    write(settings)
    first = " ".join(lws("plan", "Pulumi.prod.yaml").stdout.split("\n\n")[0].split())
    assert first == (
        "prod fits as far as is known 48 of 72 GPUs in use · 1 warning · memory of glm-5 not checked"
        " · first start about 27 min"
    )
    role = planned("Pulumi.prod.yaml")["deployments"][0]
    unknown = {name for name, value in role.items() if value is None}
    assert unknown == {"memory_per_gpu_gib", "kv_tokens", "context", "max_concurrency", "start"}


def test_the_svg_is_one_picture_alone_on_standard_output() -> None:
    write(platform())
    picture = lws("plan", "Pulumi.prod.yaml", "--format", "svg").stdout
    assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314 - our own


def test_a_terminal_gets_colours_and_the_same_picture() -> None:
    write(platform())
    controller, terminal = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    command = [sys.executable, "-m", "pulumi_lws.cli", "plan", "Pulumi.prod.yaml", "--name", "glm-5"]
    running = subprocess.Popen(command, stdout=terminal, env=environment | {"COLUMNS": "100"})
    os.close(terminal)
    shown = b""
    # A terminal whose other end is closed says so with an error.
    while True:
        try:
            shown += os.read(controller, 100_000)
        except OSError:
            break
    os.close(controller)
    assert running.wait() == 0
    assert "\x1b[1;32mprod fits" in shown.decode()
    assert "╭ p5-0 ─" in shown.decode()


def test_a_plan_loads_no_pulumi_and_help_loads_nothing_that_takes_time() -> None:
    write(platform())
    code = (
        "import sys\nfrom pulumi_lws.cli.main import app\n"
        "heavy = {'pulumi', 'grpc', 'rich', 'jsonschema_rs', 'kubernetes_validate', 'pydantic', 'yaml'}\n"
        "print(*sorted(heavy & set(sys.modules)))\n"
        "try:\n    app(['plan', 'Pulumi.prod.yaml', '--format', 'json'])\n"
        "except SystemExit as error:\n    print(error.code, *sorted(heavy & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    lines = ended.stdout.splitlines()
    assert (lines[0], lines[-1], ended.stderr) == ("", "0 pydantic yaml", "")
