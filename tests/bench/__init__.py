"""Measures what Poolboard costs on this machine: ``python -m tests.bench [ONLY]``. Nothing here passes or fails by time."""
