"""A load test, rendered to its Job and to what the Job reads.

A Job cannot change, and must not run again on every update: its name ends with a hash of all that it is, so that the
same inputs are the same Job, and others are a new one.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pulumi_lws.facts import labels
from pulumi_lws.load_tests import summary_program
from pulumi_lws.load_tests.record import generator_image, record_of
from pulumi_lws.load_tests.scenario import scenario
from pulumi_lws.load_tests.settings import LoadTestSettings, ResultsClaim
from pulumi_lws.load_tests.target import HUB_ADDRESS, TOKENIZER, api_key_of, hub_address_of, hub_token_of, tokenizer_of
from pulumi_lws.serving.routing.sidecar import restricted
from pulumi_lws.serving.settings import DeploymentArgs, SecretKey

Manifest = dict[str, Any]
"""A Kubernetes object as its API has it."""

_FILES: Final = "/load-test"
_RESULTS: Final = "/results"
_HOME: Final = "/home/guidellm"
_USER: Final = 1001
"""User of GuideLLM's image; some of what it imports wants to know its name."""

_START_SECONDS: Final = 900
"""For a node to boot and the image to be pulled."""
_STEP_SECONDS: Final = 60
"""For a step beside its own length: prompts are made up, and results are counted."""

_API_KEY: Final = "GUIDELLM__SPEC__BACKEND__API_KEY"
"""Variable that GuideLLM takes the key from; its report shows asterisks."""


def load_test_objects(name: str, test: LoadTestSettings, args: DeploymentArgs) -> dict[str, Manifest]:
    """Render a load test, by the suffix of each Pulumi name; the Job, which needs the rest, is the last.

    Args:
        name: Name of the test.
        test: The test.
        args: The deployment that it tests, without problems of its own.
    """
    draft = json.dumps(_objects(name, "", 0, test, args), sort_keys=True)
    content = hashlib.sha256(draft.encode()).hexdigest()[:8]
    # Names of pods, which are labels too, are longer by six.
    own = f"load-test-{name[:38].rstrip('-')}-{content}"
    return {**_claim(name, test, args), **_objects(name, own, int(content, 16), test, args)}


def deadline_seconds(test: LoadTestSettings) -> int:
    """Return how long the Job may take, in seconds."""
    return _START_SECONDS + len(test.steps) * (test.seconds + _STEP_SECONDS)


def _objects(name: str, own: str, seed: int, test: LoadTestSettings, args: DeploymentArgs) -> dict[str, Manifest]:
    metadata = {"namespace": args.namespace, "labels": {labels.LOAD_TEST: name}}
    files = {
        "record.json": _text(record_of(test, args)),
        "scenario.json": _text(scenario(name, test, args, seed)),
        "summary.py": Path(summary_program.__file__).read_text(encoding="utf-8"),
    }
    return {
        "record": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": own, **metadata},
            "immutable": True,
            "data": files,
        },
        "network": {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": f"load-test-{name}", **metadata},
            "spec": {
                "podSelector": {"matchLabels": {labels.LOAD_TEST: name}},
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [],
                "egress": _egress(test, args),
            },
        },
        "job": {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": own, **metadata},
            "spec": {
                # Half a test and a whole one in the same results would be neither.
                "backoffLimit": 0,
                "podFailurePolicy": {
                    "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
                },
                "activeDeadlineSeconds": deadline_seconds(test),
                "template": {
                    "metadata": {
                        "labels": {labels.LOAD_TEST: name},
                        "annotations": {labels.DO_NOT_DISRUPT: "true"},
                    },
                    "spec": _pod(name, own, test, args),
                },
            },
        },
    }


def _claim(name: str, test: LoadTestSettings, args: DeploymentArgs) -> dict[str, Manifest]:
    """Render the claim that is made for the results; a larger one is no other test."""
    made = test.results
    if not isinstance(made, ResultsClaim):
        return {}
    return {
        "results": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": _claim_name(name),
                "namespace": args.namespace,
                "labels": {labels.LOAD_TEST: name},
                # Most classes make a volume only for a pod that asks for it, and that pod comes later.
                "annotations": {labels.PULUMI_SKIP_AWAIT: "true"},
            },
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": f"{made.size_gib}Gi"}},
                **({"storageClassName": made.storage_class} if made.storage_class else {}),
            },
        }
    }


def _claim_name(name: str) -> str:
    return f"load-test-{name}"


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


def _egress(test: LoadTestSettings, args: DeploymentArgs) -> list[dict[str, Any]]:
    """Return what the pod may reach."""
    reads_hub = tokenizer_of(test, args).claim is None
    if test.url or (reads_hub and hub_address_of(args)):
        # A policy is held against the address and port behind a Service, which nobody here knows.
        return [{}]
    names = {"ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]}
    hub = {"ports": [{"protocol": "TCP", "port": 443}]}
    return [names, {"to": [{"podSelector": {}}]}, *([hub] if reads_hub else [])]


def _pod(name: str, own: str, test: LoadTestSettings, args: DeploymentArgs) -> dict[str, Any]:
    tokenizer, folder = tokenizer_of(test, args), f"{_RESULTS}/{own}"
    claim = _claim_name(name) if isinstance(test.results, ResultsClaim) else test.results
    results = {"persistentVolumeClaim": {"claimName": claim}} if claim else {"emptyDir": {}}
    volumes: list[dict[str, Any]] = [
        {"name": "load-test", "configMap": {"name": own}},
        {"name": "results", **results},
        *({"name": name, "emptyDir": {}} for name in ("home", "temporary")),
    ]
    mounts: list[dict[str, Any]] = [
        {"name": "load-test", "mountPath": _FILES, "readOnly": True},
        {"name": "results", "mountPath": _RESULTS},
        {"name": "home", "mountPath": _HOME},
        {"name": "temporary", "mountPath": "/tmp"},  # noqa: S108 - where Python looks
    ]
    if tokenizer.claim:
        source = {"claimName": tokenizer.claim, "readOnly": True}
        volumes.append({"name": "tokenizer", "persistentVolumeClaim": source})
        mounts.append({"name": "tokenizer", "mountPath": TOKENIZER, "readOnly": True})
    resources = {"cpu": str(test.cpus), "memory": f"{test.memory_gib}Gi"}
    common = {
        "image": generator_image(test),
        "resources": {"requests": resources, "limits": resources},
        "securityContext": restricted() | {"runAsUser": _USER, "runAsGroup": _USER},
        "volumeMounts": mounts,
    }
    return {
        "restartPolicy": "Never",
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "securityContext": {"fsGroup": _USER},
        # Nodes with GPUs are for models, also where nothing taints them.
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": labels.POOL, "operator": "DoesNotExist"}]}]
                }
            }
        },
        **({"imagePullSecrets": [{"name": test.image_pull_secret}]} if test.image_pull_secret else {}),
        "initContainers": [
            {
                "name": "load",
                **common,
                "args": ["run", "--config", f"{_FILES}/scenario.json", "--disable-console-interactive"],
                "env": [
                    {"name": "GUIDELLM__DEFAULT_RESULTS_DIR", "value": folder},
                    *_environment(test, args),
                ],
            }
        ],
        "containers": [
            {
                "name": "summary",
                **common,
                "command": ["/opt/app-root/bin/python3", f"{_FILES}/summary.py", f"{_FILES}/record.json", folder],
            }
        ],
        "volumes": volumes,
    }


def _environment(test: LoadTestSettings, args: DeploymentArgs) -> list[dict[str, Any]]:
    """Return the key of the API, and what the tokenizer is read with."""
    found = _secret(_API_KEY, api_key_of(test, args))
    if tokenizer_of(test, args).claim:
        return [*found, {"name": "HF_HUB_OFFLINE", "value": "1"}]
    address = hub_address_of(args)
    return [
        *found,
        *_secret("HF_TOKEN", hub_token_of(args)),
        *([{"name": HUB_ADDRESS, "value": address}] if address else []),
    ]


def _secret(name: str, key: SecretKey | None) -> list[dict[str, Any]]:
    reference = {"name": key.secret, "key": key.key} if key else None
    return [{"name": name, "valueFrom": {"secretKeyRef": reference}}] if reference else []
