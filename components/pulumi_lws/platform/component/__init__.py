"""The whole of one environment as Pulumi components."""

from pulumi_lws.platform.component.platform import Platform, stack_settings

__all__ = ["Platform", "stack_settings"]
