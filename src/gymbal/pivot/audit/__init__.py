"""Holds the rows of a pivot dataset, whoever made it, against the trajectories that it was made of."""
