import subprocess
import sys
from pathlib import Path

import gymbal


def test_verify_imports_the_standard_library_only() -> None:
    # -S hides site-packages, so that any other dependency would fail to import.
    source = Path(gymbal.__file__).parent.parent
    program = f"import sys; sys.path.insert(0, {str(source)!r}); import gymbal.verify"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)
