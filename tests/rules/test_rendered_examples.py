"""What this library renders and registers holds to every rule, its own choices among them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from lab.examples import Variant, variants
from pulumi_lws.platform.component import Platform
from pulumi_lws.rules.catalogue import RULES
from pulumi_lws.rules.judging import registered
from pulumi_lws.rules.rule import RegisteredObject, Target
from pulumi_lws.rules.scope import Scope
from pulumi_lws.testing.monitor import record
from tests.conftest import platform_of


def broken(objects: Sequence[RegisteredObject]) -> list[str]:
    """What the rules say of the objects of a program; what is said of how Pulumi registers them the lab tests."""
    return [
        str(problem)
        for subject in objects
        for rule in RULES
        if not rule.of_programs
        for problem in Scope().heed(rule.problems(subject, Target(), None, objects), subject, date.max)[0]
    ]


@pytest.mark.parametrize("variant", tuple(variants()), ids=lambda variant: variant.name)
def test_an_example_breaks_no_rule(variant: Variant) -> None:
    assert broken([replace(registered(manifest), provider_name="cluster") for manifest in variant.objects()]) == []


@pytest.mark.usefixtures("kubeconfig")
# The SDKs of AWS deprecate resources of their own when they are loaded.
@pytest.mark.filterwarnings("ignore:aws.ec2/encryptioncontrol:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:NodeGroup uses AWS EC2 LaunchConfiguration:DeprecationWarning")
@pytest.mark.parametrize("stack", ["local", "dev", "staging", "prod"])
def test_a_stack_breaks_no_rule(stack: str) -> None:
    def run() -> None:
        Platform("platform", platform_of(stack))

    assert broken([RegisteredObject(each.type, each.inputs, each.name, "cluster") for each in record(run)]) == []
