"""Asking the outside: other programs, git, an installed Gym, the machine, and the endpoint of a run."""
