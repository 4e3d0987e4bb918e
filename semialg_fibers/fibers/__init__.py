"""All parameters of one function, as semi-algebraic sets."""
