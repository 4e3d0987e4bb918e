"""A guard against hanging for whatever waits, well below pytest's own; never a statement about speed."""

GUARD = 240  # seconds
