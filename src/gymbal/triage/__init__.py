"""Why two numbers differ: the ladder of causes, the gap and its parts, the verdict."""
