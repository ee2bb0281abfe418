"""Labs for tests: each with a folder of its own, and none left behind."""

import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from lab.cluster import client, control_plane, nodes, parts, processes, record
from lab.cluster.control_plane import Outcome, Wish
from lab.cluster.crds import Definitions, chosen_releases
from lab.cluster.layout import Layout
from lab.tools.given import LWS_CONTROLLER, given_controller
from lab.tools.obtain import obtain
from lab.tools.obtained import Obtained
from lab.tools.progress import reporter
from lab.tools.table import ALWAYS
from pulumi_lws.facts.versions import PINS


@pytest.fixture(scope="session")
def tools() -> dict[str, Obtained]:
    """The programs that every lab needs, built if need be."""
    return obtain(ALWAYS, reporter())


@pytest.fixture(scope="session")
def new_layout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Layout]]:
    """Makes labs that are brought down at the end, whatever a test did to them."""
    layouts = []

    def make() -> Layout:
        layouts.append(Layout(tmp_path_factory.mktemp("labs") / f"test-{secrets.token_hex(3)}"))
        return layouts[-1]

    yield make
    for layout in layouts:
        control_plane.down(layout, keep=False)
    assert [found for layout in layouts for found in processes.find(layout.folder)] == []


@pytest.fixture(scope="session")
def upstream() -> Definitions:
    """The upstream CRDs of the machine; skips where there are none."""
    folder = os.environ.get("LWS_LAB_CRDS")
    if not folder:
        pytest.skip("LWS_LAB_CRDS names no folder with upstream CRDs")
    return Definitions(tuple(chosen_releases(Path(folder), {name: pin.version for name, pin in PINS.items()})))


@pytest.fixture(scope="session")
def controller() -> Obtained:
    """The real controller of LeaderWorkerSet; skips where the machine names none."""
    found = given_controller(os.environ)
    if found is None:
        pytest.skip("LWS_LAB_CONTROLLER names no controller of LeaderWorkerSet")
    return found


@pytest.fixture(scope="session")
def wish_with_controller(controller: Obtained, tools: dict[str, Obtained]) -> Callable[..., Wish]:
    """Wishes for a lab with the controller, the CRDs of its version and some nodes."""
    folder = os.environ.get("LWS_LAB_CRDS")
    if not folder:
        pytest.skip("LWS_LAB_CRDS names no folder with upstream CRDs")
    releases = [one for one in chosen_releases(Path(folder), {"lws": controller.version}) if one.component == "lws"]

    def wish(*specs: str) -> Wish:
        wanted = nodes.manifests(nodes.parse(specs))
        programs = {**tools, LWS_CONTROLLER: controller}
        return Wish(programs, Definitions(tuple(releases)), nodes=wanted, lws_controller=True)

    return wish


@pytest.fixture
def said() -> list[str]:
    """What `up` said to the person who waits."""
    return []


@pytest.fixture
def up(tools: dict[str, Obtained], said: list[str]) -> Callable[..., Outcome]:
    """Brings a lab up as `python -m lab up` does, with stand-ins unless told otherwise."""

    def bring_up(layout: Layout, *specs: str, crds: Definitions | None = None, **wish: Any) -> Outcome:
        wanted = nodes.manifests(nodes.parse(specs))
        return control_plane.up(layout, Wish(tools, crds or Definitions(), wanted, **wish), said.append)

    return bring_up


@pytest.fixture(scope="session")
def shared_lab(tools: dict[str, Obtained], new_layout: Callable[[], Layout]) -> Layout:
    """One lab with two GPU nodes for all tests that only make objects in it."""
    layout = new_layout()
    wanted = nodes.manifests(nodes.parse(["p5=p5.48xlarge:1x2"]))
    control_plane.up(layout, Wish(tools, Definitions(), wanted), lambda _: None)
    return layout


@pytest.fixture
def api(shared_lab: Layout) -> Iterator[httpx.Client]:
    """The administrator's connection to the shared lab."""
    with _connection(shared_lab) as connected:
        yield connected


@pytest.fixture(scope="session")
def taken(
    upstream: Definitions, tools: dict[str, Obtained], new_layout: Callable[[], Layout]
) -> Callable[[Iterable[Mapping[str, Any]]], list[str]]:
    """Asks an API server with the upstream schemas whether it takes objects; gives what it says against them.

    Nothing is kept (a dry run), and a field that the schema does not know counts as refused. The namespaces of the
    objects are made.
    """
    layout = new_layout()
    control_plane.up(layout, Wish(tools, upstream, []), lambda _: None)

    def ask(manifests: Iterable[Mapping[str, Any]]) -> list[str]:
        against = []
        with _connection(layout) as api:
            for manifest in manifests:
                metadata = manifest["metadata"]
                if namespace := metadata.get("namespace"):
                    api.post("/api/v1/namespaces", json={"metadata": {"name": namespace}})
                collection = _collection(api, manifest["apiVersion"], manifest["kind"], namespace)
                answer = api.post(
                    collection, json=dict(manifest), params={"dryRun": "All", "fieldValidation": "Strict"}
                )
                if not answer.is_success:
                    against.append(f"{manifest['kind']} {metadata['name']}: {answer.json()['message']}")
        return against

    return ask


def _collection(api: httpx.Client, api_version: str, kind: str, namespace: str | None) -> str:
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    known = {one["kind"]: one for one in api.get(root).raise_for_status().json()["resources"] if "/" not in one["name"]}
    inside = f"/namespaces/{namespace or 'default'}" if known[kind]["namespaced"] else ""
    return f"{root}{inside}/{known[kind]['name']}"


@pytest.fixture
def connection() -> Callable[[Layout], httpx.Client]:
    """Opens the administrator's connection to a lab."""
    return _connection


@pytest.fixture
def eventually() -> Callable[[Callable[[], Any], Any], None]:
    """Polls until a look equals what is wanted, and fails with what it saw last."""

    def poll(look: Callable[[], Any], wanted: Any) -> None:
        end = time.monotonic() + 30
        while (found := look()) != wanted and time.monotonic() < end:
            time.sleep(0.05)
        assert found == wanted

    return poll


def _connection(layout: Layout) -> httpx.Client:
    known = record.load(layout)
    assert known is not None
    return client.connect(layout, known.ports[parts.API_PORT])
