"""Every rule there is. The policy pack, the documentation and the tests take their rules from here."""

from pulumi_lws.rules.accelerators_in_limits import ACCELERATORS_IN_LIMITS
from pulumi_lws.rules.administrative_paths import ADMINISTRATIVE_PATHS
from pulumi_lws.rules.averaged_metrics import AVERAGED_METRICS
from pulumi_lws.rules.child_name import CHILD_NAME
from pulumi_lws.rules.child_name_kueue import CHILD_NAME_KUEUE
from pulumi_lws.rules.claim_fields import CLAIM_FIELDS
from pulumi_lws.rules.claim_retention import CLAIM_RETENTION
from pulumi_lws.rules.claims_kept import CLAIMS_KEPT
from pulumi_lws.rules.claims_mounted import CLAIMS_MOUNTED
from pulumi_lws.rules.development_mode import DEVELOPMENT_MODE
from pulumi_lws.rules.disruption_budget import DISRUPTION_BUDGET
from pulumi_lws.rules.drained import DRAINED
from pulumi_lws.rules.efa_requested import EFA_REQUESTED
from pulumi_lws.rules.efa_security_group import EFA_SECURITY_GROUP
from pulumi_lws.rules.engine_exposure import ENGINE_EXPOSURE
from pulumi_lws.rules.exclusive_topology import EXCLUSIVE_TOPOLOGY
from pulumi_lws.rules.exclusivity_in_namespaces import EXCLUSIVITY_IN_NAMESPACES
from pulumi_lws.rules.executor_backend import EXECUTOR_BACKEND
from pulumi_lws.rules.external_replicas import EXTERNAL_REPLICAS
from pulumi_lws.rules.external_slices import EXTERNAL_SLICES
from pulumi_lws.rules.gang_scheduled import GANG_SCHEDULED
from pulumi_lws.rules.groups_budgeted import GROUPS_BUDGETED
from pulumi_lws.rules.guaranteed_resources import GUARANTEED_RESOURCES
from pulumi_lws.rules.headless_probes import HEADLESS_PROBES
from pulumi_lws.rules.host_ports import HOST_PORTS
from pulumi_lws.rules.injected_variables import INJECTED_VARIABLES
from pulumi_lws.rules.leader_address import LEADER_ADDRESS
from pulumi_lws.rules.leader_ready import LEADER_READY
from pulumi_lws.rules.leader_ready_deadlock import LEADER_READY_DEADLOCK
from pulumi_lws.rules.lone_restarts import LONE_RESTARTS
from pulumi_lws.rules.misleading_keys import MISLEADING_KEYS
from pulumi_lws.rules.name_fits import NAME_FITS
from pulumi_lws.rules.name_fits_kueue import NAME_FITS_KUEUE
from pulumi_lws.rules.namespace_quota import NAMESPACE_QUOTA
from pulumi_lws.rules.newer_kubernetes import NEEDS_NEWER_KUBERNETES
from pulumi_lws.rules.newer_lws import NEEDS_NEWER_LWS
from pulumi_lws.rules.nixl_alike import NIXL_ALIKE
from pulumi_lws.rules.nixl_over_efa import NIXL_OVER_EFA
from pulumi_lws.rules.nixl_pipeline import NIXL_PIPELINE
from pulumi_lws.rules.no_plain_secrets import NO_PLAIN_SECRETS
from pulumi_lws.rules.node_pool_hygiene import NODE_POOL_HYGIENE
from pulumi_lws.rules.not_disrupted import NOT_DISRUPTED
from pulumi_lws.rules.one_scaler import ONE_SCALER
from pulumi_lws.rules.one_topology import ONE_TOPOLOGY
from pulumi_lws.rules.overwritten_labels import OVERWRITTEN_LABELS
from pulumi_lws.rules.own_role_scaler import OWN_ROLE_SCALER
from pulumi_lws.rules.partition_below_replicas import PARTITION_BELOW_REPLICAS
from pulumi_lws.rules.partition_keeps_surge import PARTITION_KEEPS_SURGE
from pulumi_lws.rules.patch_force import PATCH_FORCE
from pulumi_lws.rules.pinned_images import PINNED_IMAGES
from pulumi_lws.rules.placement_conflict import PLACEMENT_CONFLICT
from pulumi_lws.rules.placement_topology import PLACEMENT_TOPOLOGY
from pulumi_lws.rules.pod_count import POD_COUNT
from pulumi_lws.rules.pods_restart import PODS_RESTART
from pulumi_lws.rules.probe_budgets import PROBE_BUDGETS
from pulumi_lws.rules.protected import PROTECTED
from pulumi_lws.rules.ray_head import RAY_HEAD
from pulumi_lws.rules.ray_head_idle import RAY_HEAD_IDLE
from pulumi_lws.rules.ray_joins import RAY_JOINS
from pulumi_lws.rules.ray_scale_target import RAY_SCALE_TARGET
from pulumi_lws.rules.readiness_asks_engine import READINESS_ASKS_ENGINE
from pulumi_lws.rules.recreate_annotation import RECREATE_ANNOTATION
from pulumi_lws.rules.release_hides_objects import RELEASE_HIDES_OBJECTS
from pulumi_lws.rules.rendezvous import RENDEZVOUS
from pulumi_lws.rules.replicas_beside_autoscaler import REPLICAS_BESIDE_AUTOSCALER
from pulumi_lws.rules.reserved_keys import RESERVED_KEYS
from pulumi_lws.rules.restart_policy_drift import RESTART_POLICY_DRIFT
from pulumi_lws.rules.restarts_while_starting import RESTARTS_WHILE_STARTING
from pulumi_lws.rules.role_autoscaler import ROLE_AUTOSCALER
from pulumi_lws.rules.role_partition import ROLE_PARTITION
from pulumi_lws.rules.role_replicas import ROLE_REPLICAS
from pulumi_lws.rules.rollout_moves import ROLLOUT_MOVES
from pulumi_lws.rules.rolls_one_at_a_time import ROLLS_ONE_AT_A_TIME
from pulumi_lws.rules.rule import Rule
from pulumi_lws.rules.server_side_apply import SERVER_SIDE_APPLY
from pulumi_lws.rules.service_links import SERVICE_LINKS
from pulumi_lws.rules.shadowing_service import SHADOWING_SERVICE
from pulumi_lws.rules.shared_memory import SHARED_MEMORY
from pulumi_lws.rules.side_channel_host import SIDE_CHANNEL_HOST
from pulumi_lws.rules.subgroup_topology import SUBGROUP_TOPOLOGY
from pulumi_lws.rules.subgroups_divide import SUBGROUPS_DIVIDE
from pulumi_lws.rules.surge_only_rollout import SURGE_ONLY_ROLLOUT
from pulumi_lws.rules.volcano_topology import VOLCANO_TOPOLOGY

RULES: tuple[Rule, ...] = (
    SERVER_SIDE_APPLY,
    LEADER_READY,
    EXCLUSIVE_TOPOLOGY,
    EXCLUSIVITY_IN_NAMESPACES,
    NEEDS_NEWER_LWS,
    NEEDS_NEWER_KUBERNETES,
    POD_COUNT,
    ROLLOUT_MOVES,
    SUBGROUPS_DIVIDE,
    SUBGROUP_TOPOLOGY,
    NAME_FITS,
    NAME_FITS_KUEUE,
    SHADOWING_SERVICE,
    SERVICE_LINKS,
    LEADER_ADDRESS,
    PODS_RESTART,
    LEADER_READY_DEADLOCK,
    READINESS_ASKS_ENGINE,
    PROBE_BUDGETS,
    HEADLESS_PROBES,
    ONE_TOPOLOGY,
    VOLCANO_TOPOLOGY,
    MISLEADING_KEYS,
    RESERVED_KEYS,
    INJECTED_VARIABLES,
    EXECUTOR_BACKEND,
    RENDEZVOUS,
    RAY_JOINS,
    SIDE_CHANNEL_HOST,
    NIXL_PIPELINE,
    NIXL_ALIKE,
    NIXL_OVER_EFA,
    RESTARTS_WHILE_STARTING,
    LONE_RESTARTS,
    RESTART_POLICY_DRIFT,
    RECREATE_ANNOTATION,
    SURGE_ONLY_ROLLOUT,
    ROLLS_ONE_AT_A_TIME,
    PARTITION_BELOW_REPLICAS,
    PARTITION_KEEPS_SURGE,
    CLAIMS_KEPT,
    CLAIM_RETENTION,
    CLAIMS_MOUNTED,
    CLAIM_FIELDS,
    ROLE_REPLICAS,
    ROLE_PARTITION,
    EXTERNAL_SLICES,
    PLACEMENT_TOPOLOGY,
    PLACEMENT_CONFLICT,
    CHILD_NAME,
    CHILD_NAME_KUEUE,
    OVERWRITTEN_LABELS,
    EXTERNAL_REPLICAS,
    ROLE_AUTOSCALER,
    OWN_ROLE_SCALER,
    AVERAGED_METRICS,
    RAY_SCALE_TARGET,
    GANG_SCHEDULED,
    ACCELERATORS_IN_LIMITS,
    EFA_REQUESTED,
    GUARANTEED_RESOURCES,
    SHARED_MEMORY,
    NOT_DISRUPTED,
    DRAINED,
    DISRUPTION_BUDGET,
    GROUPS_BUDGETED,
    PINNED_IMAGES,
    NO_PLAIN_SECRETS,
    ONE_SCALER,
    REPLICAS_BESIDE_AUTOSCALER,
    ENGINE_EXPOSURE,
    ADMINISTRATIVE_PATHS,
    HOST_PORTS,
    DEVELOPMENT_MODE,
    RAY_HEAD,
    RAY_HEAD_IDLE,
    NODE_POOL_HYGIENE,
    EFA_SECURITY_GROUP,
    PROTECTED,
    NAMESPACE_QUOTA,
    PATCH_FORCE,
    RELEASE_HIDES_OBJECTS,
)
"""The rules, in the order in which reports and docs list them."""
