"""Add-ons as Pulumi components."""

import os
import secrets
from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_kubernetes.helm.v4 import Chart, RepositoryOptsArgs
from pulumi_kubernetes.yaml.v2 import ConfigFile

from pulumi_lws.addons.addon import Password, Site
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.checks import add_on_problems, missing_credentials
from pulumi_lws.addons.installation import Installation, installation
from pulumi_lws.addons.settings import AddOnName, AddOns, Credentials
from pulumi_lws.addons.upgrades import upgrade_problems
from pulumi_lws.component import DeclarationError, Manifest, declared, raise_problems
from pulumi_lws.facts import labels

_PASSWORD_BYTES = 24
_DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"


class ClusterAddOn(pulumi.ComponentResource):
    """One add-on, awaited: whatever depends on it finds its kinds served and its controllers running.

    Args:
        name: Pulumi name of the component. It must not change with the version: changes are compared by it.
        args: What is installed.
        keep_crds: Whether its CRDs stay when it goes.
        opts: Give the Kubernetes provider in ``providers``.

    Raises:
        DeclarationError: An upgrade would break what runs, and was not confirmed.
    """

    def __init__(
        self,
        name: str,
        args: Installation,
        *,
        keep_crds: bool,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=_upgrade_guard(name, args)))
        super().__init__("lws:index:ClusterAddOn", name, args.inputs, opts)
        # A file of manifests has all that it needs.
        before = [] if args.manifests is not None else self._before(name, args)
        own = pulumi.ResourceOptions(parent=self, depends_on=before, transforms=[_kept] if keep_crds else None)
        if args.manifests is not None:
            ConfigFile(name, file=args.manifests, resource_prefix=name, opts=own)
        else:
            Chart(
                name,
                name=args.facts.release,
                chart=args.chart,
                version=args.version,
                namespace=args.namespace,
                values=dict(args.values),
                repository_opts=_repository(args.repository, args.credentials),
                resource_prefix=name,
                opts=own,
            )
        self.register_outputs({"version": args.version})

    def _before(self, name: str, args: Installation) -> list[pulumi.Resource]:
        """Make what the chart leaves to hooks, and what it would make up anew."""
        made: list[pulumi.Resource] = []
        for manifest in args.facts.before(args.version, args.namespace, args.values):
            key = f"{name}-{manifest['metadata']['name']}-{manifest['kind'].lower()}"
            made.append(Manifest(key, manifest, pulumi.ResourceOptions(parent=self, depends_on=made[:])))
        if args.facts.password is not None:
            made.append(_secret(name, args.facts.password, args.namespace, self))
        return made


class ClusterAddOns(pulumi.ComponentResource):
    """All add-ons of a cluster, each after those that it needs.

    Args:
        name: Pulumi name of the component.
        args: The add-ons, as in a stack file.
        site: Where they are installed.
        opts: Give the Kubernetes provider in ``providers``, and what makes nodes in ``depends_on``.

    Raises:
        DeclarationError: With every problem of the declaration.
    """

    installed: Mapping[AddOnName, ClusterAddOn]
    """Each add-on, by name."""

    def __init__(
        self,
        name: str,
        args: AddOns | Mapping[str, Any],
        site: Site,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        subject = "Add-ons"
        add_ons = declared(AddOns, args, subject)
        raise_problems([*add_on_problems(add_ons, site), *missing_credentials(add_ons, os.environ)], subject)
        super().__init__("lws:index:ClusterAddOns", name, add_ons.model_dump(by_alias=True, exclude_none=True), opts)
        self._name = name
        self.namespaces: dict[str, Manifest] = {}
        made: dict[AddOnName, ClusterAddOn] = {}
        chosen = dict(add_ons.installed())
        for key in (key for key in ADD_ONS if key in chosen):
            facts = ADD_ONS[key]
            decided = installation(facts, chosen[key], add_ons, site)
            before = [made[other] for other in (*facts.after, *facts.needs) if other in made]
            # A file of manifests brings its own.
            namespace = self._namespace(decided.namespace) if decided.manifests is None else []
            own = pulumi.ResourceOptions(parent=self, depends_on=[*before, *namespace])
            made[key] = ClusterAddOn(f"{name}-{facts.release}", decided, keep_crds=add_ons.keep_crds, opts=own)
        self.installed = made
        self.register_outputs({"installed": list(made)})

    def _namespace(self, namespace: str) -> list[pulumi.Resource]:
        """Make a namespace once, if it is not Kubernetes' own."""
        if not namespace or namespace.startswith("kube-"):
            return []
        if namespace not in self.namespaces:
            manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            self.namespaces[namespace] = Manifest(
                f"{self._name}-{namespace}", manifest, pulumi.ResourceOptions(parent=self)
            )
        return [self.namespaces[namespace]]


def _kept(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Let CRDs outlive their chart: with them every object of their kinds would go."""
    if args.type_ != _DEFINITION:
        return None
    kept = pulumi.ResourceOptions(retain_on_delete=True)
    return pulumi.ResourceTransformResult(args.props, pulumi.ResourceOptions.merge(args.opts, kept))


def _secret(name: str, password: Password, namespace: str, parent: pulumi.Resource) -> Manifest:
    """Make up a password once: what a later update would make up is left out of it."""
    made_up: Any = pulumi.Output.secret(secrets.token_urlsafe(_PASSWORD_BYTES))
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": password.name,
            "namespace": namespace,
            "annotations": {
                labels.PULUMI_PATCH_FORCE: "true",
                labels.PATCH_FORCE_REASON: "an update that was killed may have made it, with a password nobody knows",
            },
        },
        "stringData": {**password.fixed, password.key: made_up},
    }
    own = pulumi.ResourceOptions(parent=parent, ignore_changes=["stringData", "data"])
    return Manifest(f"{name}-{password.name}", manifest, own)


def _repository(address: str | None, credentials: Credentials | None) -> RepositoryOptsArgs | None:
    if address is None and credentials is None:
        return None
    if credentials is None:
        return RepositoryOptsArgs(repo=address)
    return RepositoryOptsArgs(
        repo=address,
        username=os.environ.get(credentials.username_variable),
        password=pulumi.Output.secret(os.environ.get(credentials.password_variable)),
    )


def _upgrade_guard(name: str, args: Installation) -> pulumi.ResourceHookBinding:
    """Return the hook that refuses, at preview too, an upgrade that needs a hand first."""

    def refuse(hook: pulumi.ResourceHookArgs) -> None:
        old: Any = hook.old_inputs or {}
        if "version" in old and (found := upgrade_problems(args.facts, old["version"], args.version, args.confirmed)):
            raise DeclarationError(found, f"Add-on {args.facts.title}")

    hook = pulumi.ResourceHook(f"{name}-upgrade", refuse, pulumi.ResourceHookOptions(on_dry_run=True))
    return pulumi.ResourceHookBinding(before_update=[hook])
