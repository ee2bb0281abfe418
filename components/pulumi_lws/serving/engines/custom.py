"""Any engine whose commands the user writes, such as TensorRT-LLM or llama.cpp."""

from collections.abc import Iterator
from dataclasses import dataclass

from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving.engines.engine import Behaviour, Launch, Process
from pulumi_lws.serving.engines.interconnect import interconnect
from pulumi_lws.serving.engines.settings import CustomEngine


@dataclass(frozen=True)
class Custom:
    """An engine as its user declares it. Its commands say what other engines derive from the launch."""

    settings: CustomEngine

    @property
    def default_image(self) -> None:
        """None: the user names the image."""
        return

    def leader(self, launch: Launch) -> Process:
        """Return the process of a leader, or of the only pod of a group."""
        return Process((*self.settings.leader_command, *launch.extra_arguments), interconnect(launch))

    def worker(self, launch: Launch) -> Process:
        """Return the process of a worker."""
        return Process((*self.settings.worker_command, *launch.extra_arguments), interconnect(launch))

    def behaviour(self, launch: Launch) -> Behaviour:
        """Return what is to be known of the launch: what the user says of it."""
        settings = self.settings
        rendezvous = settings.rendezvous_port if launch.shape.size > 1 else None
        return Behaviour(
            serves=settings.serves,
            startup=settings.startup,
            rendezvous_port=rendezvous,
            ports={"http": settings.api_port},
            health_port=settings.api_port,
            health_path=settings.health_path,
            runs_probe=settings.has_python,
            engine_ports={"http": (settings.api_port, 0)} | ({"rendezvous": (rendezvous, 0)} if rendezvous else {}),
        )

    def problems(self, launch: Launch) -> list[Problem]:
        """Return what is missing for the launch. Paths start with ``engine``."""
        return list(self._problems(launch))

    def _problems(self, launch: Launch) -> Iterator[Problem]:
        settings, size = self.settings, launch.shape.size
        if size > 1 and not settings.worker_command:
            allowed = f"the command of a worker: groups have {size} pods"
            yield Problem("engine.workerCommand", "nothing", allowed, "Write it, or fit the model into one pod.")
        if settings.rendezvous_port == settings.api_port:
            yield Problem(
                "engine.rendezvousPort",
                str(settings.rendezvous_port),
                "a port other than apiPort, which answers only once the workers are there",
                "Choose another port for one of them.",
            )
        if size > 1 and settings.startup == "leader_first" and settings.rendezvous_port is None:
            yield Problem(
                "engine.rendezvousPort",
                "nothing",
                "the port on which the leader waits for its workers, which are made once it listens there",
                "Set it, or set engine.startup to workers_first if the workers must be up before their leader.",
            )
