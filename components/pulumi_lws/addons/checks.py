"""Whether add-ons work where they are installed, and together."""

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_lws.addons.addon import AddOnFacts, Site
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.device_nodes import DEVICE_PLUGINS, has_gpu_plugin, tolerates
from pulumi_lws.addons.installation import Installation, installation
from pulumi_lws.addons.settings import AddOn, AddOnName, AddOns
from pulumi_lws.addons.upgrades import numbers
from pulumi_lws.facts.versions import PINS
from pulumi_lws.nodes.taints import taints_of
from pulumi_lws.planning.problems import Problem, Severity, shown

_CERTIFICATES_SINCE = (0, 10)
_P6_SINCE = (0, 5, 18)
"""First chart with version 0.5.10 of the EFA plugin; older ones take NVLink devices of p6-b200 for EFA interfaces.
https://github.com/aws/sagemaker-hyperpod-cli/issues/282"""


def add_on_problems(add_ons: AddOns, site: Site) -> list[Problem]:
    """Return what keeps add-ons from working. Paths start at the add-ons.

    Args:
        add_ons: What is installed.
        site: Where.
    """
    problems: list[Problem] = []
    for name, declared in add_ons.installed():
        decided = installation(ADD_ONS[name], declared, add_ons, site)
        problems += [problem.below(decided.facts.key) for problem in _alone(decided, declared, site)]
    return [
        *problems,
        *_certificates(add_ons),
        *_pools_without_devices(add_ons, site),
        *_kept_off(add_ons, site),
        *_efa_of_p6(add_ons, site),
        *_credentials(add_ons),
    ]


def exclusion_problems(add_ons: AddOns, site: Site) -> list[Problem]:
    """Return the add-ons that get in each other's way, which may follow from what else is on the site."""
    problems: list[Problem] = []
    for name, declared in add_ons.installed():
        decided = installation(ADD_ONS[name], declared, add_ons, site)
        problems += [problem.below(decided.facts.key) for problem in _excluded(decided, site)]
    return problems


def missing_credentials(add_ons: AddOns, environment: Mapping[str, str]) -> list[Problem]:
    """Return the credentials that are not there: a registry would be asked without, and say that there is no chart.

    Args:
        add_ons: What is installed.
        environment: The environment that Pulumi runs in.
    """
    credentials = add_ons.credentials
    if credentials is None:
        return []
    variables = {
        "usernameVariable": credentials.username_variable,
        "passwordVariable": credentials.password_variable,
    }
    return [
        Problem(
            f"credentials.{field}",
            f"{variable}, which is not set where Pulumi runs",
            "a variable of the environment with a value",
            f"Set {variable} before you run Pulumi.",
        )
        for field, variable in variables.items()
        if not environment.get(variable)
    ]


def _alone(decided: Installation, declared: AddOn, site: Site) -> list[Problem]:
    """Judge one add-on. Paths start at it."""
    return [
        *_mode(decided.facts, site),
        *_excluded(decided, site),
        *_missing(decided.facts, declared, site),
        *_version(decided),
        *_unused(decided, declared),
    ]


def _mode(facts: AddOnFacts, site: Site) -> Iterator[Problem]:
    if site.mode is not None and (why := facts.not_on.get(site.mode)):
        yield Problem("", facts.title, f"nothing on a cluster of this mode: {why}", f"Remove {facts.key}.")
    if site.mode is not None and (risk := facts.doubtful_on.get(site.mode)):
        fix = f"Remove {facts.key}, or try it on nodes that may go."
        yield Problem("", facts.title, f"better nothing on a cluster of this mode: {risk}", fix, Severity.WARNING)


def _excluded(decided: Installation, site: Site) -> Iterator[Problem]:
    facts = decided.facts
    for other, exclusion in facts.excludes.items():
        if other in site.installed and value_at(decided.values, exclusion.values):
            values = ".".join(exclusion.values)
            yield Problem(
                "",
                f"{facts.title} with {values}, and {ADD_ONS[other].title}",
                f"one of the two, since {exclusion.why}",
                f"Remove {ADD_ONS[other].key}, or {exclusion.instead}.",
            )


def _missing(facts: AddOnFacts, declared: AddOn, site: Site) -> Iterator[Problem]:
    if site.is_new and not value_at(declared.values, facts.elsewhere):
        for other in facts.needs:
            if other not in site.installed:
                fix = f"Add {ADD_ONS[other].key}: {{}}"
                fix += f", or set values.{'.'.join(facts.elsewhere)}." if facts.elsewhere else "."
                title = ADD_ONS[other].title
                yield Problem("", f"no {title}", f"{title}, which it needs", fix)


def _version(decided: Installation) -> Iterator[Problem]:
    oldest = decided.facts.oldest
    if oldest is not None and numbers(decided.version) < oldest.version:
        first = ".".join(map(str, oldest.version))
        # The first one that will do may be one that breaks what runs.
        fix = f"Set it to {PINS[decided.facts.pin].version}, or remove it: that is the default."
        yield Problem("version", decided.version, f"{first} or later, since which {oldest.why}", fix)


def _unused(decided: Installation, declared: AddOn) -> Iterator[Problem]:
    """Judge what has no say where one file of manifests is applied."""
    if decided.manifests is None:
        return
    fields = set(declared.model_fields_set) & {"values", "namespace", *_own_fields(declared)}
    for field in sorted(fields):
        info, value = type(declared).model_fields[field], getattr(declared, field)
        if value != info.default:
            allowed = f"nothing: {decided.manifests} is applied as it is"
            fix = "Remove it, or install the chart." if declared.manifests else "Remove it: there is no chart."
            yield Problem(str(info.alias), shown(value), allowed, fix)


def _own_fields(declared: AddOn) -> set[str]:
    """Return the fields that only this add-on has: they become values of its chart."""
    return set(type(declared).model_fields) - set(AddOn.model_fields)


def _certificates(add_ons: AddOns) -> Iterator[Problem]:
    lws = add_ons.lws
    if lws is None or lws.certificates != "cert-manager":
        return
    version = installation(ADD_ONS["lws"], lws, add_ons, Site()).version
    if numbers(version)[:2] < _CERTIFICATES_SINCE:
        yield Problem(
            "lws.certificates",
            f"cert-manager with LWS {version}",
            "internal before 0.10, whose charts do not tell the API server of the certificate"
            " (https://github.com/kubernetes-sigs/lws/issues/902)",
            "Set it to internal, or version to 0.10.0 or later.",
        )
    if add_ons.cert_manager is None:
        yield Problem(
            "lws.certificates",
            "cert-manager, which is not among the add-ons",
            "internal, or cert-manager where it runs already",
            "Add certManager: {}, or set it to internal.",
            Severity.WARNING,
        )


def _pools_without_devices(add_ons: AddOns, site: Site) -> Iterator[Problem]:
    """Judge pools on nodes of our own whose devices nothing makes known."""
    if site.mode != "karpenter" or not site.is_new:
        return
    without_gpus = [name for name, pool in site.pools.items() if not has_gpu_plugin(pool, site.image)]
    without_efa = [name for name, pool in site.pools.items() if pool.efa_mode != "none"]
    needs: tuple[tuple[AddOnName, list[str], str], ...] = (
        ("nvidia_device_plugin", without_gpus, "GPUs"),
        ("efa_device_plugin", without_efa, "EFA interfaces"),
    )
    for name, pools, what in needs:
        if pools and getattr(add_ons, name) is None:
            key = ADD_ONS[name].key
            allowed = f"the plugin: without it the nodes of {', '.join(pools)} have no {what} for pods"
            yield Problem(key, "nothing", allowed, f"Add {key}: {{}}.")


def _kept_off(add_ons: AddOns, site: Site) -> Iterator[Problem]:
    """Judge values that keep a DaemonSet off nodes that it is there for."""
    for name in DEVICE_PLUGINS:
        declared = getattr(add_ons, name)
        if declared is None or "tolerations" not in declared.values:
            continue
        tolerations = declared.values["tolerations"] or []
        taints = {
            taint["key"]: None
            for pool in site.pools.values()
            for taint in taints_of(pool)
            if taint["effect"] != "PreferNoSchedule" and not any(tolerates(one, taint) for one in tolerations)
        }
        if taints:
            yield Problem(
                f"{ADD_ONS[name].key}.values.tolerations",
                f"none for {', '.join(taints)}",
                "tolerations of every taint of the pools, or it does not run on their nodes",
                "Remove it: by default every taint is tolerated.",
                Severity.WARNING,
            )


def _efa_of_p6(add_ons: AddOns, site: Site) -> Iterator[Problem]:
    declared = add_ons.efa_device_plugin
    types = sorted({p.instance_type for p in site.pools.values() if p.instance_type.startswith("p6-")})
    if declared is not None and declared.version and types and numbers(declared.version) < _P6_SINCE:
        first = "v" + ".".join(map(str, _P6_SINCE))
        allowed = f"{first} or later for {', '.join(types)}: older ones count NVLink devices as EFA interfaces"
        yield Problem("efaDevicePlugin.version", declared.version, allowed, f"Set it to {first}, or remove it.")


def _credentials(add_ons: AddOns) -> Iterator[Problem]:
    charts = add_ons.charts
    if add_ons.credentials is not None and (charts is None or "://" not in charts):
        yield Problem(
            "credentials",
            f"credentials for {'a folder' if charts else 'public registries of upstream'}",
            "credentials of a registry of yours, which charts names",
            "Set charts to it, or remove credentials.",
            Severity.WARNING,
        )


def value_at(values: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """Return what stands at a path of values; None where nothing does."""
    found: Any = values if path else None
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
