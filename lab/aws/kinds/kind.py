"""What a stand-in must know about a resource type beyond the SDK's table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.aws.kinds.forms import Form
from lab.aws.state import Account, Object


class RefusedError(Exception):
    """AWS would refuse the call.

    Args:
        message: Code and text of the refusal, as AWS words them.
    """


@dataclass(frozen=True)
class Reference:
    """A property that names another object.

    Attributes:
        path: Dotted path of the property; lists on the way are entered.
        to: Resource type of what it names.
        by: Properties of the other object that the value may be; any of them.
        blocks: Whether AWS refuses to delete the other object while this one exists.
        only: Only values that begin so are meant, a regular expression; others name something else.
    """

    path: str
    to: str
    by: tuple[str, ...] = ("id",)
    blocks: bool = False
    only: str = ""


@dataclass(frozen=True)
class Request:
    """A call that makes or changes an object.

    Attributes:
        values: What is asked for, checked against the SDK's table; unknown parts are marked.
        region: The region that the call goes to.
        account: What exists.
        before: The object as it is, where it is changed.
    """

    values: Mapping[str, Any]
    region: str
    account: Account
    before: Object | None = None


@dataclass(frozen=True)
class Kind:
    """One resource type. Texts are templates over the object's properties and what `lab.aws.values` adds to them.

    Attributes:
        called: What messages of the real provider call it.
        source: Where what stands here is written: a page of the API, or of the provider's source.
        id: The id of a new object.
        arn: Its ARN; empty for types without one.
        regional: Whether each region has its own.
        replaces: Paths whose change takes a new object.
        replaces_if: Paths whose change takes a new object where the function of old and new value says so.
        named_by: The property that Pulumi fills with a name of its own where none is given; empty for none.
        named_like: How it makes that name.
        defaults: What the real provider fills in.
        references: Properties that name other objects.
        forms: Forms of properties, by their paths.
        one_of: Groups of properties of which exactly one must be set.
        at_most_one_of: Groups of properties of which at most one may be set.
        unique: Properties by which AWS tells the objects apart: no two may agree in all of them.
        taken: The refusal where another has them.
        missing: The refusal where something names one that does not exist.
        blocked: The refusal where one that is still needed is deleted.
        outputs: What AWS adds to it. Further ones are made up by their types.
        bumped: Numbers that each change raises.
        owns: What comes with a new one and goes with it.
        check: Further rules; raises `RefusedError`.
        check_delete: Rules about deleting one.
    """

    called: str
    source: str
    id: str
    arn: str = ""
    regional: bool = True
    replaces: frozenset[str] = frozenset()
    replaces_if: Mapping[str, Callable[[Any, Any], bool]] = field(default_factory=dict)
    named_by: str = "name"
    named_like: str = "{name}-{suffix}"
    defaults: Mapping[str, Any] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()
    forms: Mapping[str, Form] = field(default_factory=dict)
    one_of: tuple[tuple[str, ...], ...] = ()
    at_most_one_of: tuple[tuple[str, ...], ...] = ()
    unique: tuple[str, ...] = ()
    taken: str = ""
    missing: str = "NotFound: {value} does not exist"
    blocked: str = "DependencyViolation: {id} has a dependent object"
    outputs: Mapping[str, Any] = field(default_factory=dict)
    bumped: tuple[str, ...] = ()
    owns: Callable[[Object], list[Object]] | None = None
    check: Callable[[Request], None] | None = None
    check_delete: Callable[[Object], None] | None = None
