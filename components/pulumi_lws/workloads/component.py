"""The upstream workload APIs as Pulumi components."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_lws.component import DeclarationError, Manifest, declared, raise_problems
from pulumi_lws.planning.problems import Problem
from pulumi_lws.rules.judging import judge
from pulumi_lws.workloads import manifests
from pulumi_lws.workloads.disaggregated_set import DisaggregatedSetArgs
from pulumi_lws.workloads.settings import LeaderWorkerSetArgs


class LeaderWorkerSet(pulumi.ComponentResource):
    """A LeaderWorkerSet: groups of one leader and its workers, made, restarted and rolled as one.

    A change of the subgroups' size, of volume claim templates or of exclusive topologies replaces it: all groups go
    first, then the new ones are made. So does, in a Kueue queue, a change of the queue, of the size, or of what pods
    request and where they may run, and so does joining or leaving one. To keep serving, make a second one under
    another name and move the traffic.

    Args:
        name: Pulumi name of the component.
        args: What to make; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``, and what installs the CRD in ``depends_on``.

    Raises:
        DeclarationError: The API server would refuse the declaration.
    """

    def __init__(
        self,
        name: str,
        args: LeaderWorkerSetArgs | Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        self._subject = f"LeaderWorkerSet {name}"
        self._args = args = declared(LeaderWorkerSetArgs, args, self._subject)
        manifest = manifests.leader_worker_set(args)
        raise_problems(judge(manifest, args.target), self._subject)
        super().__init__("lws:index:LeaderWorkerSet", name, args.model_dump(by_alias=True, exclude_none=True), opts)
        minutes = f"{args.wait_minutes}m" if manifests.waits(args) else None
        self.object = Manifest(
            name,
            manifest,
            pulumi.ResourceOptions(
                parent=self,
                custom_timeouts=pulumi.CustomTimeouts(create=minutes, update=minutes),
                ignore_changes=["spec.replicas"] if args.scaled_elsewhere else None,
                replacement_trigger=manifests.unchangeable(manifest),
                # The name is fixed. The deletion is a foreground one, so the old StatefulSets are gone before the new
                # object is made, which would else adopt them. https://github.com/kubernetes-sigs/lws/issues/732
                delete_before_replace=True,
            ),
        )
        self.register_outputs({"name": args.name, "namespace": args.namespace})

    @property
    def scale_target(self) -> Mapping[str, str]:
        """The ``scaleTargetRef`` of an autoscaler that owns ``replicas``.

        Raises:
            DeclarationError: ``scaled_elsewhere`` is not set, so every update would take ``replicas`` back.
        """
        return _unless(manifests.scale_target(self._args), self._subject)


class DisaggregatedSet(pulumi.ComponentResource):
    """A DisaggregatedSet: roles that serve one model together, and a Service for the leaders of each role.

    An update does not wait until groups serve: the controller of LWS 0.10 never writes a status. Nothing is ever
    replaced: a changed template makes new LeaderWorkerSets beside the old ones, which needs GPUs for both while it
    lasts. A change of ``placementPolicy``, or of a role's ``metadata``, ``networkConfig`` or ``startupPolicy``, is
    stored and reaches nothing until then; to bring it at once, change an annotation of any template with it.

    Args:
        name: Pulumi name of the component.
        args: What to make; a mapping is validated like the model.
        opts: Give the Kubernetes provider in ``providers``, and what installs the CRD in ``depends_on``.

    Raises:
        DeclarationError: The API server would refuse the declaration, or its LeaderWorkerSets could not be made.
    """

    def __init__(
        self,
        name: str,
        args: DisaggregatedSetArgs | Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        self._subject = f"DisaggregatedSet {name}"
        self._args = args = declared(DisaggregatedSetArgs, args, self._subject)
        manifest = manifests.disaggregated_set(args)
        raise_problems(judge(manifest, args.target), self._subject)
        super().__init__("lws:index:DisaggregatedSet", name, args.model_dump(by_alias=True, exclude_none=True), opts)
        self.object = Manifest(name, manifest, pulumi.ResourceOptions(parent=self))
        self.services = {
            role: Manifest(f"{name}-{role}-leader", service, pulumi.ResourceOptions(parent=self))
            for role, service in manifests.leader_services(args).items()
        }
        self.register_outputs({"name": args.name, "namespace": args.namespace})

    def scaler(self, role: str) -> Mapping[str, str]:
        """Return the ``scaleTargetRef`` of an autoscaler for a role whose scaling mode is ``External``.

        The controller makes that object, so let the autoscaler depend on this component.

        Raises:
            DeclarationError: There is no such role, or its mode is ``Static``.
        """
        return _unless(manifests.role_scaler(self._args, role), self._subject)


def _unless(answer: Mapping[str, str] | Problem, subject: str) -> Mapping[str, str]:
    if isinstance(answer, Problem):
        raise DeclarationError([answer], subject)
    return answer
