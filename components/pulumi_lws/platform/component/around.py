"""What stands around the deployments of a platform: gateways, autoscalers of those, monitoring and load tests."""

from collections.abc import Mapping

import pulumi

from pulumi_lws.edge.component import InferenceGateway
from pulumi_lws.load_tests.component import LoadTest, LoadTestArgs
from pulumi_lws.monitoring.component import Monitoring, MonitoringArgs
from pulumi_lws.platform.doors import gateways_of
from pulumi_lws.platform.parts import monitored_site
from pulumi_lws.platform.settings import PlatformArgs
from pulumi_lws.serving.component import ModelDeployment
from pulumi_lws.serving.scaling.gateways.component import GatewayAutoscaler, GatewayAutoscalerArgs
from pulumi_lws.serving.settings import DeploymentArgs


def make_around(
    name: str,
    platform: PlatformArgs,
    deployments: Mapping[str, DeploymentArgs],
    made: Mapping[str, ModelDeployment],
    opts: pulumi.ResourceOptions,
) -> dict[str, InferenceGateway]:
    """Make what stands around the deployments; return the gateways.

    Args:
        name: Name of the platform.
        platform: The platform.
        deployments: The arguments of its deployments by name.
        made: The deployments themselves.
        opts: Options of each part.
    """
    if platform.monitoring is not None:
        Monitoring(f"{name}-monitoring", MonitoringArgs(platform.monitoring, monitored_site(platform)), opts)
    doors = {
        key: InferenceGateway(f"{name}-gateway-{key}", args, opts)
        for key, args in gateways_of(platform, deployments).items()
    }
    after_doors = _after(opts, *doors.values())
    for key, scaling in platform.gateway_autoscalers.items():
        GatewayAutoscaler(f"{name}-autoscaler-{key}", GatewayAutoscalerArgs(scaling, deployments), after_doors)
    tests: dict[str, LoadTest] = {}
    for key, test in platform.load_tests.items():
        # Two at a time would measure each other.
        after = _after(after_doors, made[test.deployment], *tests.values())
        args = LoadTestArgs(key, test, deployments[test.deployment])
        tests[key] = LoadTest(f"{name}-load-test-{key}", args, after)
    return doors


def _after(opts: pulumi.ResourceOptions, *before: pulumi.Resource) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(before)))
