"""The TLS contexts of listeners: those that cannot be loaded again are kept."""

from pathlib import Path

import pytest

from brokerd.config.ssl_configs import SslConfigs, Store
from brokerd.security.ssl_engine_factory import TlsError
from brokerd.security.ssl_factory import SslFactory
from tests.support.pki import Authority


async def test_a_listener_whose_store_is_gone_keeps_its_context(tmp_path: Path) -> None:
    store, issued = tmp_path / "store.pem", Authority("ours").issue("broker")
    store.write_text(issued.key + issued.chain)
    tls = {"TLS": SslConfigs(keystore=Store(str(store)), truststore=Store())}
    contexts = SslFactory()
    contexts.current = await contexts.load(tls)
    assert (await contexts.load(tls))["TLS"] is not contexts.current["TLS"]
    store.unlink()
    assert await contexts.load(tls) == contexts.current
    with pytest.raises(TlsError) as caught:
        await contexts.load(tls | {"NEW": tls["TLS"]})
    assert caught.value.listener == "NEW"
    assert list(contexts.current) == ["TLS"]
    assert await contexts.load({}) == {}


async def test_a_check_changes_no_context() -> None:
    contexts = SslFactory()
    with pytest.raises(TlsError):
        await contexts.check(SslConfigs(keystore=Store("/no/where.pem"), truststore=Store()))
    assert contexts.current == {}
