"""Independent judges, which share nothing with what they judge."""
