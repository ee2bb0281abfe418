"""Generated tables stand between their marks, and take nothing else away."""

import pytest

from lab.add_ons_page import Table
from lab.docs import with_tables

FRUIT: Table = (("fruit",), [("apple",), ("a|b",)])
TREES: Table = (("tree",), [("oak",)])

PAGE = """\
before
<!-- table -->
<!-- end of table -->
between
<!-- table -->
what was there
<!-- end of table -->
after
"""

WRITTEN = """\
before
<!-- table -->

| fruit |
| --- |
| apple |
| a\\|b |

<!-- end of table -->
between
<!-- table -->

| tree |
| --- |
| oak |

<!-- end of table -->
after
"""


def test_each_table_comes_between_its_marks() -> None:
    assert with_tables(PAGE, FRUIT, TREES) == WRITTEN


def test_writing_a_page_again_changes_nothing() -> None:
    assert with_tables(WRITTEN, FRUIT, TREES) == WRITTEN


@pytest.mark.parametrize("tables", [(FRUIT,), (FRUIT, TREES, FRUIT)])
def test_a_page_has_marks_for_every_table(tables: tuple[Table, ...]) -> None:
    with pytest.raises(ValueError, match="zip"):
        with_tables(PAGE, *tables)
