"""Measures what Poolboard costs on this machine: ``python -m tests.bench [ONLY]``. Nothing passes or fails by time."""
