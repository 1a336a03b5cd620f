"""Selection: which pivots of a dataset a policy can learn from."""
