"""Settings of every property test: no deadline, because a duration is never an assertion."""

from hypothesis import HealthCheck, settings

settings.register_profile("exact", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("exact")
