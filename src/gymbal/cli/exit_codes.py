"""Exit codes that mean the same whatever the command; those of a verdict are in the command's help."""

BROKEN_PIPE_EXIT = 141
"""128 + SIGPIPE: what a shell shows for a program whose reader went away."""
INTERRUPTED_EXIT = 130
"""128 + SIGINT."""
UNWRITABLE_EXIT = 2
"""Standard output cannot be written: the disk is full, for one."""
