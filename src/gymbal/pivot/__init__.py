"""Agent trajectories in, single-step training rows out."""
