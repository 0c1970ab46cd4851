from tests.monitoring.pipeline.rolled_history import rolled_history, rolled_root  # noqa: F401
