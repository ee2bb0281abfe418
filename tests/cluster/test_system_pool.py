"""Nodes without GPU on Auto Mode."""

from typing import Any

from pulumi_lws.cluster.eks.system_pool import system_objects
from pulumi_lws.nodes import auto_node_class


def test_the_system_pool_is_as_reviewed(golden: Any) -> None:
    objects = system_objects("llm-us-east-2-nodes", ["subnet-a", "subnet-b"], "sg-cluster", 64)
    assert auto_node_class.spec_problems(objects[0]["spec"]) == []
    golden.compare("system-auto", objects)
