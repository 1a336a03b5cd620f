"""What `import gymbal` offers is small, listed and loaded on first use."""

import pkgutil

import pytest

import gymbal

MOST_NAMES = 15


def test_public_names_are_sorted_and_few() -> None:
    assert list(gymbal.__all__) == sorted(gymbal.__all__)
    assert len(gymbal.__all__) <= MOST_NAMES


@pytest.mark.parametrize("name", gymbal.__all__)
def test_public_name_resolves_to_something_documented(name: str) -> None:
    assert getattr(gymbal, name).__doc__


def test_public_name_is_no_module() -> None:
    # Importing the module `gymbal.x` sets `gymbal.x`, which would hide a function of that name.
    modules = {module.name for module in pkgutil.iter_modules(gymbal.__path__)}
    assert modules & set(gymbal.__all__) == set()


def test_dir_lists_the_public_names_alone() -> None:
    assert dir(gymbal) == sorted(gymbal.__all__)


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        _ = gymbal.nonesuch
