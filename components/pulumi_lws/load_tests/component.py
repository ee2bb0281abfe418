"""A load test as a Pulumi component."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from pulumi_lws.component import Manifest, declared, raise_problems
from pulumi_lws.load_tests.checks import one_load_test_problems
from pulumi_lws.load_tests.manifests import deadline_seconds, load_test_objects
from pulumi_lws.load_tests.settings import LoadTestSettings
from pulumi_lws.serving.settings import DeploymentArgs


@dataclass(frozen=True)
class LoadTestArgs:
    """What a :class:`LoadTest` is made from.

    Attributes:
        name: Name of the test.
        test: What was declared; a mapping is validated like the model.
        deployment: The deployment that it tests.
    """

    name: str
    test: LoadTestSettings | Mapping[str, Any]
    deployment: DeploymentArgs


class LoadTest(pulumi.ComponentResource):
    """A Job that sends requests to a deployment once, and keeps what it was a test of beside what it measured.

    An update waits until it has ended, and fails with it.

    Args:
        name: Pulumi name of the component.
        args: What to test, and how.
        opts: Give the Kubernetes provider in ``providers``, and in ``depends_on`` the deployment and other tests of it:
            two at a time would measure each other.

    Raises:
        DeclarationError: The test could not run, or would measure nothing.
    """

    def __init__(self, name: str, args: LoadTestArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        subject = f"Load test {args.name}"
        test = declared(LoadTestSettings, args.test, subject)
        raise_problems(one_load_test_problems(args.name, test, args.deployment), subject)
        inputs = {"name": args.name, "test": test.model_dump(by_alias=True, exclude_none=True)}
        super().__init__("lws:index:LoadTest", name, inputs, opts)
        manifests = load_test_objects(args.name, test, args.deployment)
        job = manifests.pop("job")
        before = [
            Manifest(f"{name}-{key}", manifest, pulumi.ResourceOptions(parent=self))
            for key, manifest in manifests.items()
        ]
        # The Job ends itself in time, and says why; Pulumi gives up only after it.
        minutes = f"{-(-deadline_seconds(test) // 60) + 5}m"
        own = pulumi.ResourceOptions(
            parent=self,
            depends_on=before,
            custom_timeouts=pulumi.CustomTimeouts(create=minutes, update=minutes),
            # The old test must not run beside the new one.
            delete_before_replace=True,
        )
        self.job = Manifest(f"{name}-job", job, own)
        self.register_outputs({"job": job["metadata"]["name"]})
