from tests.support.fake_gateway import fake_cluster  # noqa: F401  (a fixture)
