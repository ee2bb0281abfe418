"""The Python that `pulumi import` proposes."""

import ast
import json
import re
from pathlib import Path

import pulumi_kubernetes
import pytest

from lab.language_host.generate import constructor, generate, snake_case
from lab.language_host.pcl import PclError

SDK = Path(pulumi_kubernetes.__file__).parent

IMPORTED = r"""
package kubernetes {
    baseProviderName = "kubernetes"
    baseProviderVersion = "4.34.2"

}

resource web_app "kubernetes:apps/v1:Deployment" {
    __logicalName = "web.app"
    metadata ={
        name = "web",
        namespace = default.id
    }
    spec ={
        minReadySeconds = 1.5,
        paused = false,
        replicas = 2,
        selector ={
matchLabels ={
"appName" = "web"}},
        template ={
            spec ={
                containers =[{
                        args =[
                            "a \"quoted\" $${word} of 100 %%{and}\n\té"],
                        resources ={}
                    }]
            }
        }
    }
options {
protect =true

}

}

resource default "kubernetes:core/v1:Namespace" {
    metadata ={
        name = "default"
    }
}

component group {
    token = "lws:index:Group"
}

resource cluster "pulumi:providers:kubernetes" {
    kubeconfig = secret("k")
options {
dependsOn =[
            group]
parent =group

}
}
"""

PROPOSED = r"""import pulumi
import pulumi_kubernetes as kubernetes

default = kubernetes.core.v1.Namespace(
    "default",
    metadata={
        "name": "default",
    },
)

web_app = kubernetes.apps.v1.Deployment(
    "web.app",
    metadata={
        "name": "web",
        "namespace": default.id,
    },
    spec={
        "min_ready_seconds": 1.5,
        "paused": False,
        "replicas": 2,
        "selector": {
            "match_labels": {
                "appName": "web",
            },
        },
        "template": {
            "spec": {
                "containers": [
                    {
                        "args": [
                            "a \"quoted\" ${word} of 100 %{and}\n\té",
                        ],
                        "resources": {},
                    },
                ],
            },
        },
    },
    opts=pulumi.ResourceOptions(protect=True),
)

group = pulumi.ComponentResource(
    "lws:index:Group",
    "group",
)

cluster = kubernetes.Provider(
    "cluster",
    kubeconfig=pulumi.Output.secret("k"),
    opts=pulumi.ResourceOptions(depends_on=[
        group,
    ], parent=group),
)
"""


def test_imported_resources_become_statements_that_follow_what_they_refer_to() -> None:
    assert generate(IMPORTED) == PROPOSED
    ast.parse(PROPOSED)


def test_resources_that_refer_to_each_other_are_written_all_the_same() -> None:
    circle = 'resource a "p:m:A" {\n x = b.id\n}\nresource b "p:m:B" {\n x = a.id\n}\n'
    assert generate(circle).count("=b.id") + generate(circle).count("=a.id") == 2


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("element(list, 1)", "',' stands where ')' is needed"),
        ("toJSON({})", "the function toJSON is not known"),
        ('"of ${other}"', 'the template "of ${other}" cannot be read'),
        ("1 + 1", "'+ 1\\n}\\n' cannot be read"),
        ("", "'}' stands where a value is needed"),
    ],
)
def test_what_an_import_does_not_write_is_refused_by_name(value: str, reason: str) -> None:
    with pytest.raises(PclError) as caught:
        generate(f'resource a "p:m:A" {{\n x = {value}\n}}\n')
    assert str(caught.value) == reason


def test_every_property_of_the_kubernetes_sdk_has_its_python_name() -> None:
    pattern = re.compile(r'@pulumi\.getter\(name="(\w+)"\)\n    def (\w+)')
    names = {pair for file in SDK.rglob("*.py") for pair in pattern.findall(file.read_text())}
    assert len(names) > 500
    assert [(wire, name) for wire, name in sorted(names) if snake_case(wire) != name] == []


def test_every_resource_of_the_kubernetes_sdk_has_its_python_class() -> None:
    register = re.search(r'resource_modules="""\n(.*?)"""', (SDK / "__init__.py").read_text(), re.DOTALL)
    assert register
    classes = {
        token: f"{module['fqn']}.{name}"
        for module in json.loads(register[1])
        for token, name in module["classes"].items()
    }
    assert len(classes) > 100
    wrong = {token: known for token, known in classes.items() if "pulumi_" + ".".join(constructor(token)) != known}
    assert wrong == {}
