"""Exact real geometry; it has never heard of a network."""
