"""The objects that exist in a lab's AWS accounts: one JSON file each, which several providers may use at once."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from lab.aws.places import ACCOUNT_ID


@dataclass
class Object:
    """Something that exists in the account.

    Attributes:
        type: Type of the Pulumi resource that would describe it, such as ``aws:ec2/subnet:Subnet``.
        id: Its identifier, as Pulumi has it.
        inputs: What it was asked to be.
        outputs: What it is, inputs included.
        owner: Id of the object that it came with and goes with; empty for what somebody made.
        urn: The Pulumi resource that made it; empty for what came with another object.
    """

    type: str
    id: str
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    owner: str = ""
    urn: str = ""

    def value(self, name: str) -> Any:
        """A property of it, or its id."""
        return self.id if name == "id" else self.outputs.get(name)


class Account:
    """The objects of one account, in the order in which they were made.

    Args:
        number: Number of the account.
        objects: What exists.
    """

    def __init__(self, number: str, objects: list[Object]) -> None:
        self.number = number
        self.objects = objects

    def find(self, kind: str, identifier: str) -> Object | None:
        """The object of a type with an id."""
        return next((o for o in self.objects if (o.type, o.id) == (kind, identifier)), None)

    def of(self, kind: str) -> Iterator[Object]:
        """The objects of a type."""
        return (o for o in self.objects if o.type == kind)

    def named(self, kind: str, prop: str, value: str) -> Object | None:
        """The object of a type with this value of a property."""
        return next((o for o in self.of(kind) if o.value(prop) == value), None)

    def add(self, *objects: Object) -> None:
        """Make objects exist."""
        self.objects.extend(objects)

    def without(self, urn: str) -> "Account":
        """The account as it would be without what a Pulumi resource made."""
        return Account(self.number, [one for one in self.objects if one.urn != urn])

    def remove(self, gone: Object) -> None:
        """Remove an object and what came with it."""
        self.objects = [o for o in self.objects if o is not gone and (not o.owner or o.owner != gone.id)]


@dataclass(frozen=True)
class AccountFile:
    """Where an account is kept.

    Attributes:
        folder: Folder of a lab's accounts.
        number: Number of the account.
        run: Run of the engine whose plans are kept; empty for what exists.
    """

    folder: Path
    number: str = ACCOUNT_ID
    run: str = ""

    @property
    def path(self) -> Path:
        """The file; absent for an account in which nothing exists."""
        return self.folder / (f"{self.number}-planned-{self.run}.json" if self.run else f"{self.number}.json")

    def read(self) -> Account:
        """The account as it is now."""
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            entries = []
        return Account(self.number, [Object(**entry) for entry in entries])

    @contextmanager
    def changed(self) -> Iterator[Account]:
        """The account, to be changed; kept where the block ends without an error, and nobody else changes meanwhile."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self.path}.lock"):
            account = self.read()
            yield account
            if not account.objects:
                self.path.unlink(missing_ok=True)
                return
            draft = self.path.with_suffix(".draft")
            draft.touch(mode=0o600)  # it may hold secrets of programs
            draft.write_text(json.dumps([asdict(o) for o in account.objects], indent=1), encoding="utf-8")
            draft.replace(self.path)

    def delete(self) -> None:
        """Forget everything."""
        self.path.unlink(missing_ok=True)
        Path(f"{self.path}.lock").unlink(missing_ok=True)
