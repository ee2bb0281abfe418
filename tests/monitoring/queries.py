"""What a query of Prometheus names, read by a parser of PromQL."""

from collections.abc import Iterator
from dataclasses import dataclass

import promql_parser as promql


@dataclass(frozen=True)
class Named:
    """What a query names.

    Attributes:
        selectors: Each metric with the labels that its series must have.
        labels: Labels by which series are put together or joined.
        made: Labels that the query makes itself.
    """

    selectors: tuple[tuple[str, frozenset[str]], ...]
    labels: frozenset[str]
    made: frozenset[str]


def named(query: str) -> Named:
    """Read a query; one that is no PromQL is an error."""
    selectors: list[tuple[str, frozenset[str]]] = []
    labels: set[str] = set()
    made: set[str] = set()

    def visit(node: promql.Expr) -> bool:
        selectors.extend(_selector(node))
        labels.update(_labels(node))
        if isinstance(node, promql.Call) and node.func.name == "label_replace":
            made.add(node.args[1].val)
            labels.add(node.args[3].val)
        return True

    promql.walk(promql.parse(query), visit)
    return Named(tuple(selectors), frozenset(labels), frozenset(made))


def _selector(node: promql.Expr) -> Iterator[tuple[str, frozenset[str]]]:
    vector = node.vector_selector if isinstance(node, promql.MatrixSelector) else node
    if isinstance(vector, promql.VectorSelector):
        matchers = [*vector.matchers.matchers, *(each for any_of in vector.matchers.or_matchers for each in any_of)]
        names = [each.value for each in matchers if each.name == "__name__"]
        yield vector.name or names[0], frozenset(each.name for each in matchers if each.name != "__name__")


def _labels(node: promql.Expr) -> Iterator[str]:
    if isinstance(node, promql.AggregateExpr) and node.modifier:
        yield from node.modifier.labels
    if isinstance(node, promql.BinaryExpr) and node.modifier:
        yield from node.modifier.matching.labels if node.modifier.matching else ()
        yield from node.modifier.group_labels or ()
