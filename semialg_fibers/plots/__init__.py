"""Pictures of arrangements, symmetries, components and conserved quantities; floats are drawn, they decide nothing."""
