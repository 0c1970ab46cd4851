"""Single requests to a real cluster."""


def test_has_topic_does_not_create_the_topic(live_cluster):
    wire = live_cluster.gateway().wire
    assert not wire.has_topic("facade.new")
    live_cluster.create_topic("facade.new")
    assert wire.has_topic("facade.new")
    for name in ("facade.absent", "not a name", "x" * 250, "ä" * 125):
        assert not wire.has_topic(name)
        assert name not in wire.metadata().topics


def test_metadata_of_one_topic_can_be_requested(live_cluster, monkeypatch):
    live_cluster.create_topic("facade.one")
    live_cluster.create_topic("facade.two")
    wire = live_cluster.gateway().wire
    answers = []
    read = wire._metadata_of
    monkeypatch.setattr(wire, "_metadata_of", lambda name: answers.append(read(name)) or answers[0])
    assert wire.has_topic("facade.one")
    assert answers[0].topics == ("facade.one",)
