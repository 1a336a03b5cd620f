"""`python -m gymbal`."""

from gymbal.cli.main import main

main()
