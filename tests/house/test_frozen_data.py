"""The words of the project are values: no struct of `gymbal.model` changes once it is made."""

import importlib
import inspect
import pkgutil

import msgspec
import pytest

import gymbal.model

MODULES = [f"gymbal.model.{module.name}" for module in pkgutil.iter_modules(gymbal.model.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_structs_of_the_model_are_frozen(name: str) -> None:
    structs = {
        found.__name__: found.__struct_config__.frozen
        for _, found in inspect.getmembers(importlib.import_module(name), inspect.isclass)
        if issubclass(found, msgspec.Struct) and found is not msgspec.Struct
    }
    assert [struct for struct, is_frozen in structs.items() if not is_frozen] == []
