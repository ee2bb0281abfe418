"""Provision what the selected stack's file declares."""

import pulumi

from pulumi_lws.platform.component import Platform

platform = Platform("platform", pulumi.Config("pulumi-lws").require_object("platform"))

pulumi.export("urls", platform.urls)
if platform.kubeconfig is not None:
    pulumi.export("kubeconfig", platform.kubeconfig)
