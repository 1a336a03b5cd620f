"""One rung a file, each `check(pair) -> Finding`."""
