"""The public door of the package."""

import pulumi_lws


def test_every_public_name_loads() -> None:
    assert {name: getattr(pulumi_lws, name).__name__ for name in pulumi_lws.__all__} == {
        name: name for name in pulumi_lws.__all__
    }


def test_the_door_lists_every_name_once_in_order() -> None:
    assert pulumi_lws.__all__ == sorted(pulumi_lws._MODULES)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(pulumi_lws, "Nonsense")
