"""Provision what the selected stack's file declares."""

import pulumi

from pulumi_lws.platform.component import Platform, stack_settings

platform = Platform("platform", stack_settings())

pulumi.export("urls", platform.urls)
if platform.kubeconfig is not None:
    pulumi.export("kubeconfig", platform.kubeconfig)
