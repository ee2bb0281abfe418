"""Where each file of one lab stands: the only place that knows the names inside its state folder."""

from dataclasses import dataclass
from pathlib import Path

CONTEXT = "pulumi-lws-lab"
"""Name of the context, the cluster and the user in every kubeconfig of the lab."""


@dataclass(frozen=True)
class Layout:
    """The state folder of one lab.

    Attributes:
        folder: Absolute path of the folder; also what marks the processes of the lab.
    """

    folder: Path

    @property
    def record(self) -> Path:
        """Ports, parts and tools of the lab, as JSON."""
        return self.folder / "lab.json"

    @property
    def lock(self) -> Path:
        """Held while the lab is changed; beside the folder, because ``down`` deletes the folder."""
        return self.folder.with_name(f"{self.folder.name}.lock")

    @property
    def keys(self) -> Path:
        """Certificates and private keys."""
        return self.folder / "pki"

    def certificate(self, name: str) -> Path:
        """Certificate of the identity or authority called ``name``, PEM."""
        return self.keys / f"{name}.crt"

    def key(self, name: str) -> Path:
        """Private key of the identity called ``name``, PEM, mode 0600."""
        return self.keys / f"{name}.key"

    @property
    def kubeconfig(self) -> Path:
        """What people and Pulumi use: the administrator's access."""
        return self.folder / "kubeconfig"

    def part_kubeconfig(self, identity: str) -> Path:
        """Access of one part of the lab."""
        return self.keys / f"{identity}.kubeconfig"

    @property
    def etcd_data(self) -> Path:
        """The objects of the lab's API server."""
        return self.folder / "etcd"

    @property
    def instance_types(self) -> Path:
        """The instance catalogue as Karpenter's stand-in provider reads it."""
        return self.folder / "instance-types.json"

    @property
    def lws_controller(self) -> Path:
        """Folder of the LWS controller: its configuration, and the certificate and key that its webhooks show."""
        return self.folder / "lws-controller"

    @property
    def lws_configuration(self) -> Path:
        """Configuration of the LWS controller, JSON."""
        return self.lws_controller / "configuration.json"

    @property
    def logs(self) -> Path:
        """Folder of the logs."""
        return self.folder / "logs"

    def log(self, part: str) -> Path:
        """Log of one part since it was last started."""
        return self.logs / f"{part}.log"

    def earlier_log(self, part: str) -> Path:
        """Log of the run of a part before this one."""
        return self.logs / f"{part}.earlier.log"

    @property
    def programs(self) -> Path:
        """Folder for PATH: the Pulumi CLI with its language host beside it."""
        return self.folder / "bin"

    @property
    def pulumi_home(self) -> Path:
        """``PULUMI_HOME``: plugins and credentials, apart from the person's own."""
        return self.folder / "pulumi"

    @property
    def aws(self) -> Path:
        """Folder of the account of the stand-in for AWS."""
        return self.folder / "aws"

    @property
    def stacks(self) -> Path:
        """Folder of the Pulumi backend: state of the stacks."""
        return self.folder / "state"
