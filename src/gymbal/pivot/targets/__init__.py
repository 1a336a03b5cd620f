"""What the verifiers beside the single-step one ask of a row, one file for each."""
