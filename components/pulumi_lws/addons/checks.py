"""Whether add-ons work where they are installed, and together."""

from collections.abc import Iterator

from pulumi_lws.addons.addon import AddOnFacts, Site
from pulumi_lws.addons.catalogue import ADD_ONS
from pulumi_lws.addons.installation import installation
from pulumi_lws.addons.settings import AddOnName, AddOns
from pulumi_lws.addons.upgrades import numbers
from pulumi_lws.facts.versions import PINS
from pulumi_lws.nodes.settings import GpuPool
from pulumi_lws.planning.problems import Problem, Severity

_FIELDS: dict[AddOnName, str] = {name: str(AddOns.model_fields[name].alias or name) for name in ADD_ONS}
"""Add-ons as a stack file spells them."""

_CERTIFICATES_SINCE = (0, 10)
_HAS_GPU_PLUGIN = "bottlerocket"


def add_on_problems(add_ons: AddOns, site: Site) -> list[Problem]:
    """Return what keeps add-ons from working. Paths start at the add-ons.

    Args:
        add_ons: What is installed.
        site: Where.
    """
    chosen = dict(add_ons.installed())
    problems: list[Problem] = []
    for name in chosen:
        facts = ADD_ONS[name]
        problems += [*_mode(facts, site), *_together(facts, site), *_without_values(facts, add_ons)]
    return [*problems, *_certificates(add_ons), *_devices(add_ons, site), *_credentials(add_ons)]


def field_of(name: AddOnName) -> str:
    """Return an add-on as a stack file spells it."""
    return _FIELDS[name]


def _mode(facts: AddOnFacts, site: Site) -> Iterator[Problem]:
    if site.mode is not None and (why := facts.not_on.get(site.mode)):
        fix = f"Remove {field_of(facts.name)}."
        yield Problem(field_of(facts.name), facts.title, f"nothing on a cluster of this mode: {why}", fix)


def _together(facts: AddOnFacts, site: Site) -> Iterator[Problem]:
    for other, why in facts.excludes.items():
        if other in site.installed:
            fix = f"Keep {facts.title} or {ADD_ONS[other].title}."
            found = f"{facts.title} and {ADD_ONS[other].title}"
            yield Problem(field_of(facts.name), found, f"one of the two: {why}", fix)
    # On a cluster that exists, it may be there already.
    for other in facts.needs if site.mode is not None else ():
        if other not in site.installed:
            needed = ADD_ONS[other]
            fix = f"Add {field_of(other)}: {{}}."
            yield Problem(field_of(facts.name), f"no {needed.title}", f"{needed.title}, which it needs", fix)


def _without_values(facts: AddOnFacts, add_ons: AddOns) -> Iterator[Problem]:
    """Judge values that a file of manifests does not take."""
    declared = getattr(add_ons, facts.name)
    if declared.values and installation(facts, declared, add_ons, Site()).manifests is not None:
        yield Problem(
            f"{field_of(facts.name)}.values",
            ", ".join(declared.values),
            "nothing with one file of manifests, which takes no values",
            "Remove it, or install the chart.",
        )


def _certificates(add_ons: AddOns) -> Iterator[Problem]:
    lws = add_ons.lws
    if lws is None or lws.certificates != "cert-manager":
        return
    version = lws.version or PINS["lws"].version
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


def _devices(add_ons: AddOns, site: Site) -> Iterator[Problem]:
    """Judge pools on nodes of our own whose devices nothing makes known."""
    if site.mode != "karpenter":
        return
    pools = {name: pool for name, pool in site.pools.items() if not _has_own_plugin(pool, site.image)}
    without_gpus = [] if add_ons.nvidia_device_plugin else list(pools)
    without_efa = [] if add_ons.efa_device_plugin else [n for n, p in site.pools.items() if p.efa_mode != "none"]
    for field, names, what in (
        ("nvidiaDevicePlugin", without_gpus, "GPUs"),
        ("efaDevicePlugin", without_efa, "EFA interfaces"),
    ):
        if names:
            allowed = f"the plugin: without it the nodes of {', '.join(names)} have no {what} for pods"
            yield Problem(field, "nothing", allowed, f"Add {field}: {{}}.")


def _has_own_plugin(pool: GpuPool, image: str) -> bool:
    """Tell whether the image of a pool brings the plugin for GPUs."""
    return (pool.image or image).startswith(_HAS_GPU_PLUGIN)


def _credentials(add_ons: AddOns) -> Iterator[Problem]:
    if add_ons.credentials is not None and add_ons.charts is None:
        yield Problem(
            "credentials",
            "credentials for upstream's public registries",
            "credentials of a registry of yours, which charts names",
            "Set charts, or remove credentials.",
            Severity.WARNING,
        )
