"""The same work through other systems, each in an environment of its own, measured by one harness."""
