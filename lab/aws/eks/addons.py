"""Add-ons: those that the cluster component makes, and ``eks:index:VpcCniAddon`` and ``eks:index:Addon``."""

import json
from collections.abc import Mapping
from typing import Any

import pulumi

from lab.aws.eks.children import Child

_ADDON = "aws:eks/addon:Addon"
_CNI_ENVIRONMENT = {
    "AWS_VPC_ENI_MTU": "9001",
    "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "false",
    "AWS_VPC_K8S_CNI_EXTERNALSNAT": "false",
    "AWS_VPC_K8S_CNI_LOGLEVEL": "DEBUG",
    "AWS_VPC_K8S_CNI_LOG_FILE": "/host/var/log/aws-routed-eni/ipamd.log",
    "AWS_VPC_K8S_CNI_VETHPREFIX": "eni",
    "AWS_VPC_K8S_PLUGIN_LOG_FILE": "/var/log/aws-routed-eni/plugin.log",
    "AWS_VPC_K8S_PLUGIN_LOG_LEVEL": "DEBUG",
    "ENABLE_POD_ENI": "false",
    "WARM_ENI_TARGET": "1",
}
_CNI_OPTIONS = {
    # Options of the component by the variable that each sets.
    "customNetworkConfig": "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG",
    "eniConfigLabelDef": "ENI_CONFIG_LABEL_DEF",
    "eniMtu": "AWS_VPC_ENI_MTU",
    "enablePodEni": "ENABLE_POD_ENI",
    "enablePrefixDelegation": "ENABLE_PREFIX_DELEGATION",
    "externalSnat": "AWS_VPC_K8S_CNI_EXTERNALSNAT",
    "cniExternalSnat": "AWS_VPC_K8S_CNI_EXTERNALSNAT",
    "logFile": "AWS_VPC_K8S_CNI_LOG_FILE",
    "logLevel": "AWS_VPC_K8S_CNI_LOGLEVEL",
    "nodePortSupport": "AWS_VPC_CNI_NODE_PORT_SUPPORT",
    "vethPrefix": "AWS_VPC_K8S_CNI_VETHPREFIX",
    "warmEniTarget": "WARM_ENI_TARGET",
    "warmIpTarget": "WARM_IP_TARGET",
    "warmPrefixTarget": "WARM_PREFIX_TARGET",
}


def newest(addon: str, kubernetes: pulumi.Input[str], options: pulumi.InvokeOptions) -> pulumi.Output[str]:
    """The version of an add-on that EKS has for a version of Kubernetes."""
    asked = {"addonName": addon, "kubernetesVersion": kubernetes, "mostRecent": True}
    answer = pulumi.runtime.invoke_output("aws:eks/getAddonVersion:getAddonVersion", asked, options)
    return answer.apply(lambda found: str(found["version"]))


def managed(name: str, addon: str, cluster: Child, wanted: Mapping[str, Any], options: pulumi.ResourceOptions) -> Child:
    """An add-on of the cluster component, with the options of the program."""
    values = wanted.get("configurationValues")
    version = wanted.get("version") or newest(
        addon, cluster.output("version"), pulumi.InvokeOptions(parent=options.parent)
    )
    inputs = {
        "clusterName": cluster.output("name"),
        "addonName": addon,
        "addonVersion": version,
        "preserve": True,
        "resolveConflictsOnCreate": wanted.get("resolveConflictsOnCreate") or "OVERWRITE",
        "resolveConflictsOnUpdate": wanted.get("resolveConflictsOnUpdate") or "OVERWRITE",
        "configurationValues": None if values is None else as_text(values),
        "tags": wanted.get("tags"),
    }
    return Child(_ADDON, name, inputs, options)


def as_text(values: pulumi.Input[Any]) -> pulumi.Output[str]:
    """Settings of an add-on as text, always in the same order."""
    return pulumi.Output.from_input(values).apply(
        lambda known: json.dumps(known, sort_keys=True, separators=(",", ":"))
    )


class VpcCniAddon(pulumi.ComponentResource):
    """``eks:index:VpcCniAddon``: the add-on that gives pods their addresses."""

    def __init__(self, name: str, inputs: Mapping[str, Any], options: pulumi.ResourceOptions) -> None:
        super().__init__("eks:index:VpcCniAddon", name, dict(inputs), options)
        version = inputs.get("addonVersion") or newest(
            "vpc-cni", inputs["clusterVersion"], pulumi.InvokeOptions(parent=self)
        )
        chosen = {
            variable: inputs[option] for option, variable in _CNI_OPTIONS.items() if inputs.get(option) is not None
        }
        configured = pulumi.Output.all(
            chosen, inputs.get("configurationValues") or {}, inputs.get("enableNetworkPolicy")
        ).apply(_cni_settings)
        self.addon = Child(
            _ADDON,
            name,
            {
                "clusterName": inputs["clusterName"],
                "addonName": "vpc-cni",
                "addonVersion": version,
                "preserve": True,
                "resolveConflictsOnCreate": inputs.get("resolveConflictsOnCreate") or "OVERWRITE",
                "resolveConflictsOnUpdate": inputs.get("resolveConflictsOnUpdate") or "OVERWRITE",
                "serviceAccountRoleArn": inputs.get("serviceAccountRoleArn"),
                "configurationValues": as_text(configured),
                "tags": inputs.get("tags"),
            },
            pulumi.ResourceOptions(parent=self),
        )
        self.outputs: dict[str, Any] = {"addon": self.addon}
        self.register_outputs(self.outputs)


def _cni_settings(known: list[Any]) -> dict[str, Any]:
    chosen, given, network_policy = known
    environment = {**_CNI_ENVIRONMENT, **{variable: _word(value) for variable, value in chosen.items()}}
    policy = {} if network_policy is None else {"enableNetworkPolicy": _word(network_policy)}
    init = {"DISABLE_TCP_EARLY_DEMUX": "false"}
    return {
        **policy,
        **given,
        "env": {**environment, **given.get("env", {})},
        "init": {**given.get("init", {}), "env": {**init, **given.get("init", {}).get("env", {})}},
    }


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


class Addon(pulumi.ComponentResource):
    """``eks:index:Addon``: any add-on of a cluster."""

    def __init__(self, name: str, inputs: Mapping[str, Any], options: pulumi.ResourceOptions) -> None:
        super().__init__("eks:index:Addon", name, dict(inputs), options)
        core = pulumi.Output.from_input(inputs["cluster"]).apply(lambda cluster: cluster.core)
        given = {key: value for key, value in inputs.items() if key not in ("cluster", "configurationValues")}
        values = inputs.get("configurationValues")
        self.addon = Child(
            _ADDON,
            name,
            {
                **given,
                "clusterName": core.apply(lambda known: known["cluster"].output("name")),
                "configurationValues": None if values is None else as_text(values),
            },
            pulumi.ResourceOptions(parent=self),
        )
        self.outputs: dict[str, Any] = {"addon": self.addon}
        self.register_outputs(self.outputs)
