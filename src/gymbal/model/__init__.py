"""What the words mean: frozen typed structs that every layer shares. No I/O."""
