"""An optional dependency that the code asks for is one that `pip install 'gymbal[...]'` brings."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def extras_asked_for() -> set[tuple[str, str]]:
    """Module and extra of every call of `errors.need` in the package."""
    found = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name(id="need"), args=[ast.Constant(value=str(module))], keywords=named
                ):
                    extras = [
                        k.value.value for k in named if k.arg == "extra" and isinstance(k.value, ast.Constant)
                    ]
                    found |= {(module, str(extra)) for extra in extras}
    return found


@pytest.mark.parametrize(("module", "extra"), sorted(extras_asked_for()))
def test_extra_brings_the_module(module: str, extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [wanted for wanted in project["optional-dependencies"][extra] if wanted.startswith(module)]
