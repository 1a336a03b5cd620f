"""One module per source format: files in, trajectories or sides out."""
