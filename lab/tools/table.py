"""One table of the programs that the lab runs and of how each is made; no logic beyond writing it down."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Literal

from pulumi_lws.facts.versions import PINS

GO_NEEDED = "1.26.6"
"""Oldest Go release that the pinned modules build with: the highest ``go`` line among their go.mod files."""

LANGUAGE_HOST = "pulumi-language-python"
"""The official Python language host; the lab brings its own where this one is not beside the CLI."""

VersionRule = Literal["at least", "same minor"]


@dataclass(frozen=True)
class Recipe:
    """How Go builds a tool.

    Attributes:
        module: Path of the Go module.
        version: Version of the module as Go writes it.
        packages: Binary → Go package that it is built from; ``.`` is the program in ``source``.
        stamp: Go variable and value that carry the version into the binary; ``{version}`` is the tool's.
        tags: Build tags that leave out what is not needed here.
        imports: Packages of the module that ``source`` imports.
        source: Folder of a program of ours that is built on the module; None if the module has the program itself.
        embeds: Files of the module that ``source`` embeds.
        schema: One more of them, a JSON document whose ``version`` is set to the tool's.
        carries: Folder beside the binaries → patterns of the module's files that are copied into it.
        replaces: Module → what stands behind the arrow of its ``replace`` line in the go.mod.
    """

    module: str
    version: str
    packages: Mapping[str, str]
    stamp: str = ""
    tags: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    source: Path | None = None
    embeds: tuple[str, ...] = ()
    schema: str = ""
    carries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    replaces: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Release:
    """Official archive of a tool on the download site; ``{version}``, ``{system}`` and ``{cpu}`` are filled in.

    Attributes:
        archive: Path of the tar.gz file on the site.
        cpus: What Python calls the processor → what the archive's name calls it; others are not published.
        checksums: Path of the list of SHA-256 sums that covers the archive; empty where the site has none.
        inside: Folder in the archive that holds the programs; empty for its root.
    """

    archive: str
    cpus: Mapping[str, str]
    checksums: str = ""
    inside: str = ""


@dataclass(frozen=True)
class Tool:
    """One thing that the lab needs: one program, or several that are built together.

    Attributes:
        name: Name in commands and in the cache.
        what: What it is, in a few words.
        version: Version that the lab is made for, without a leading v.
        recipe: How Go builds it.
        minutes: Usual time of the build on two cores, behind the tools before it in a row with empty caches.
        megabytes: Disk space that it takes then, Go's caches included.
        release: Official download, if there is one.
        suits: Which versions on PATH are as good as the pinned one; None if none on PATH is to be trusted.
        companions: Programs that count as found with it when they stand beside it or on PATH.
        installed_in: Folder, relative to the home, in which an installed copy of exactly this version stands.
        on_demand: Built only when somebody asks for it by name.
    """

    name: str
    what: str
    version: str
    recipe: Recipe
    minutes: float
    megabytes: int
    release: Release | None = None
    suits: VersionRule | None = None
    companions: tuple[str, ...] = ()
    installed_in: str = ""
    on_demand: bool = False

    @property
    def binaries(self) -> tuple[str, ...]:
        """Names of its programs."""
        return tuple(self.recipe.packages)


KUBERNETES_STAGING = (
    "api",
    "apiextensions-apiserver",
    "apimachinery",
    "apiserver",
    "cli-runtime",
    "client-go",
    "cloud-provider",
    "cluster-bootstrap",
    "code-generator",
    "component-base",
    "component-helpers",
    "controller-manager",
    "cri-api",
    "cri-client",
    "csi-translation-lib",
    "dynamic-resource-allocation",
    "endpointslice",
    "externaljwt",
    "kms",
    "kube-aggregator",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubectl",
    "kubelet",
    "metrics",
    "mount-utils",
    "pod-security-admission",
    "sample-apiserver",
    "sample-cli-plugin",
    "sample-controller",
)
"""Modules that k8s.io/kubernetes requires at v0.0.0 and has in its own tree; released as v0.<minor>.<patch>."""

_KUBERNETES = PINS["kubernetes"].version
_STAGING_VERSION = "v0." + _KUBERNETES.partition(".")[2]
_X86_AND_ARM = ("x86_64", "aarch64", "arm64")

_TOOLS = (
    Tool(
        name="etcd",
        what="the store behind the API server",
        version=PINS["etcd"].version,
        recipe=Recipe(
            module=PINS["etcd"].source,
            version=f"v{PINS['etcd'].version}",
            packages={"etcd": PINS["etcd"].source},
        ),
        minutes=1,
        megabytes=1000,
        suits="at least",
    ),
    Tool(
        name="kwok",
        what="the stand-in for kubelets",
        version=PINS["kwok"].version,
        recipe=Recipe(
            module=PINS["kwok"].source,
            version=f"v{PINS['kwok'].version}",
            packages={"kwok": f"{PINS['kwok'].source}/cmd/kwok"},
        ),
        minutes=1.5,
        megabytes=1700,
        suits="at least",
    ),
    Tool(
        name="karpenter",
        what="Karpenter with its stand-in provider",
        version=PINS["karpenter-kwok"].version,
        recipe=Recipe(
            module=PINS["karpenter-kwok"].source,
            version=f"v{PINS['karpenter-kwok'].version}",
            packages={"karpenter": f"{PINS['karpenter-kwok'].source}/kwok"},
            carries={"crds": ("pkg/apis/crds/*.yaml", "kwok/apis/crds/*.yaml")},
        ),
        minutes=2,
        megabytes=1500,
        on_demand=True,
    ),
    Tool(
        name="promtool",
        what="Prometheus' own judge of rules",
        version=PINS["prometheus"].version,
        recipe=Recipe(
            module=PINS["prometheus"].source,
            version=f"v{PINS['prometheus'].version}",
            packages={"promtool": f"{PINS['prometheus'].source}/cmd/promtool"},
            # The SDKs of a dozen clouds, among which Prometheus would look for targets.
            tags=("remove_all_sd",),
        ),
        minutes=1.5,
        megabytes=1000,
        on_demand=True,
    ),
    Tool(
        name="actionlint",
        what="the judge of workflows",
        version=PINS["actionlint"].version,
        recipe=Recipe(
            module=PINS["actionlint"].source,
            version=f"v{PINS['actionlint'].version}",
            packages={"actionlint": f"{PINS['actionlint'].source}/cmd/actionlint"},
        ),
        minutes=0.2,
        megabytes=200,
        on_demand=True,
    ),
    Tool(
        name="control-plane",
        what="API server, controller manager and scheduler",
        version=_KUBERNETES,
        recipe=Recipe(
            module=PINS["kubernetes"].source,
            version=f"v{_KUBERNETES}",
            packages={
                name: f"{PINS['kubernetes'].source}/cmd/{name}"
                for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
            },
            stamp="k8s.io/component-base/version.gitVersion=v{version}",
            replaces={f"k8s.io/{name}": f"k8s.io/{name} {_STAGING_VERSION}" for name in KUBERNETES_STAGING},
        ),
        minutes=4,
        megabytes=3000,
        suits="same minor",
    ),
    Tool(
        name="pulumi",
        what="the Pulumi engine and CLI",
        version=PINS["pulumi"].version,
        recipe=Recipe(
            module=PINS["pulumi"].source,
            version=f"v{PINS['pulumi'].version}",
            packages={"pulumi": f"{PINS['pulumi'].source}/cmd/pulumi"},
            stamp="github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}",
        ),
        minutes=4,
        megabytes=3500,
        release=Release(
            archive="releases/sdk/pulumi-v{version}-{system}-{cpu}.tar.gz",
            cpus=dict(zip(_X86_AND_ARM, ("x64", "arm64", "arm64"), strict=True)),
            checksums="releases/sdk/pulumi-{version}-checksums.txt",
            inside="pulumi",
        ),
        suits="at least",
        companions=(LANGUAGE_HOST,),
    ),
    Tool(
        name="kubernetes-provider",
        what="Pulumi's Kubernetes provider",
        # The engine asks for the version of the installed SDK, so that is what the plugin has to say it is.
        version=installed_version("pulumi-kubernetes"),
        recipe=Recipe(
            module=PINS["pulumi-kubernetes"].source,
            version=PINS["pulumi-kubernetes"].version,
            packages={"pulumi-resource-kubernetes": "."},
            stamp="main.version={version}",
            imports=("pkg/provider",),
            source=Path(__file__).parent / "kubernetes_provider",
            embeds=("cmd/pulumi-resource-kubernetes/terraform-mapping.json",),
            schema="cmd/pulumi-resource-kubernetes/schema.json",
        ),
        minutes=6.5,
        megabytes=4500,
        release=Release(
            archive="releases/plugins/pulumi-resource-kubernetes-v{version}-{system}-{cpu}.tar.gz",
            cpus=dict(zip(_X86_AND_ARM, ("amd64", "arm64", "arm64"), strict=True)),
        ),
        installed_in=".pulumi/plugins/resource-kubernetes-v{version}",
    ),
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _TOOLS}
"""Every tool by its name."""

ALWAYS = tuple(tool.name for tool in _TOOLS if not tool.on_demand)
"""Names of the tools that every lab needs."""
