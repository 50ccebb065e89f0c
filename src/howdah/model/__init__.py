"""Values of the domain: immutable, typed, standard library only, no input or output."""
