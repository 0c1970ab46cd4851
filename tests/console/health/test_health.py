def test_healthz_needs_no_other_service(client):
    assert client.get("/healthz").content == b"ok\n"
