"""Refusing at preview what would replace a running cluster.

The program cannot see what the cluster was last updated with, but the engine can: before it updates the component, it
runs a hook with the old and the new declaration, at preview too. Pulumi's ``protect`` refuses a replacement as well,
but names only the resource and not the change that causes it.
"""

from typing import Any

import pulumi

from pulumi_lws.cluster.eks.replacement import replacement_problems
from pulumi_lws.component import DeclarationError


def replacement_guard(name: str, subject: str) -> pulumi.ResourceHookBinding:
    """Return the hook that refuses to replace a cluster."""

    def refuse(args: pulumi.ResourceHookArgs) -> None:
        old: Any = args.old_inputs or {}
        new: Any = args.new_inputs or {}
        if old and (problems := replacement_problems(old, new)):
            raise DeclarationError(problems, subject)

    hook = pulumi.ResourceHook(f"{name}-no-replacement", refuse, pulumi.ResourceHookOptions(on_dry_run=True))
    return pulumi.ResourceHookBinding(before_update=[hook])
