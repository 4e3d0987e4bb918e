"""semialg_fibers: all other parameters of a ReLU network's function, as explicit semi-algebraic sets."""
