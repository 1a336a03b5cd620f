"""One library function per command of `gymbal`, so that a notebook can do whatever the command line does."""
