"""The documentation of each setting, as DescribeConfigs returns it; the default of a topic setting
has that of the topic setting."""

from collections.abc import Mapping
from typing import Final

BROKER_DOCUMENTATION: Final[Mapping[str, str]] = {
    "advertised.listeners": "The addresses for clients to connect to, by listener; by default "
    "where the broker listens.",
    "auto.create.topics.enable": "Whether a missing topic is made when a client asks for it.",
    "broker.id": "The number of this broker, of which a cluster has no two.",
    "broker.rack": "The place of this broker; replicas of a partition are spread over places.",
    "brokerd.admin.port": "The port of the admin HTTP server on 127.0.0.1.",
    "brokerd.admin.token.file": "The file of the admin server's token; by default admin.token in "
    "the first log directory.",
    "brokerd.slow.request.ms": "A request that takes longer is noted as slow.",
    "brokerd.validate.records": "How much of a produced batch is checked: header or all records.",
    "brokerd.zookeeper.jaas.file": "The JAAS file with the name and password of this broker in "
    "ZooKeeper; none without SASL.",
    "connections.max.idle.ms": "How long a connection may be silent before it is closed.",
    "default.replication.factor": "How many replicas the partitions of a topic have that is made "
    "without saying so.",
    "delete.topic.enable": "Whether topics may be deleted.",
    "fetch.max.bytes": "The largest answer to a fetch request, whatever the client allows.",
    "group.initial.rebalance.delay.ms": "How long the first rebalance of an empty group waits for "
    "more members.",
    "group.max.session.timeout.ms": "The longest session timeout of a group's member.",
    "group.max.size": "The most members that a group may have.",
    "group.min.session.timeout.ms": "The shortest session timeout of a group's member.",
    "inter.broker.listener.name": "The listener on which brokers reach each other.",
    "listener.security.protocol.map": "The security protocol of each listener, NAME:PROTOCOL.",
    "listeners": "Where the broker listens, NAME://host:port.",
    "log.cleaner.backoff.ms": "How long compaction rests when there was nothing to compact.",
    "log.cleaner.dedupe.buffer.size": "The memory for the map of keys, for all compacting workers "
    "together; each uses 2 GiB at most.",
    "log.cleaner.enable": "Whether compacted topics are compacted.",
    "log.cleaner.io.buffer.load.factor": "How full the map of keys may become in one round.",
    "log.cleaner.io.buffer.size": "The memory for reading and writing, for all compacting workers "
    "together.",
    "log.cleaner.io.max.bytes.per.second": "How many bytes compaction reads and writes in a second "
    "at most.",
    "log.cleaner.threads": "How many logs are compacted at the same time.",
    "log.dir": "The log directory, where log.dirs is not set.",
    "log.dirs": "The directories that hold the logs.",
    "log.flush.offset.checkpoint.interval.ms": "How often recovery points are written down.",
    "log.flush.start.offset.checkpoint.interval.ms": "How often log starts are written down.",
    "log.flush.scheduler.interval.ms": "How often a log is looked at that is to be forced to disk.",
    "log.retention.check.interval.ms": "How often old segments are looked for.",
    "max.connection.creation.rate": "The most new connections a second; others wait.",
    "max.connections": "The most connections to this broker.",
    "max.connections.per.ip": "The most connections to this broker from one address.",
    "max.connections.per.ip.overrides": "Other limits for single addresses, as host:number.",
    "max.incremental.fetch.session.cache.slots": "How many fetch sessions are kept.",
    "node.id": "The number of this broker; the same as broker.id.",
    "num.partitions": "How many partitions a topic has that is made without saying so.",
    "offset.metadata.max.bytes": "The longest text that may be committed with an offset.",
    "offsets.commit.timeout.ms": "How long a commit may take to reach all replicas.",
    "offsets.retention.check.interval.ms": "How often expired offsets are looked for.",
    "offsets.retention.minutes": "How long the offsets of a group without members are kept.",
    "offsets.topic.num.partitions": "How many partitions __consumer_offsets is made with.",
    "offsets.topic.replication.factor": "How many replicas __consumer_offsets is made with. It has "
    "no effect yet: every topic has one replica.",
    "offsets.topic.segment.bytes": "The size of a segment of __consumer_offsets.",
    "producer.id.expiration.check.interval.ms": "How often silent producers are looked for.",
    "producer.id.expiration.ms": "How long a silent idempotent producer is remembered.",
    "queued.max.request.bytes": "The memory for large requests that are being received and for "
    "batches that wait to be looked into.",
    "replica.high.watermark.checkpoint.interval.ms": "How often high watermarks are written down.",
    "replica.lag.time.max.ms": "How long a replica may be behind before it is out of sync. It has "
    "no effect yet: every topic has one replica.",
    "socket.receive.buffer.bytes": "The receive buffer of a socket; -1 leaves it to the system.",
    "socket.request.max.bytes": "The largest request that is taken.",
    "socket.send.buffer.bytes": "The send buffer of a socket; -1 leaves it to the system.",
    "ssl.cipher.suites": "The cipher suites that may be used; empty: the default ones.",
    "ssl.client.auth": "Whether clients must show a certificate: none, requested or required.",
    "ssl.enabled.protocols": "The versions of TLS that are served.",
    "ssl.key.password": "The password of the private key, if it is encrypted.",
    "ssl.keystore.certificate.chain": "The certificate chain as PEM, instead of a key store file.",
    "ssl.keystore.key": "The private key as PEM, instead of a key store file.",
    "ssl.keystore.location": "The PEM file with the broker's private key and certificates.",
    "ssl.keystore.password": "Not used: a PEM key store has no password.",
    "ssl.keystore.type": "The format of the key store. Only PEM is supported.",
    "ssl.protocol": "Not used: ssl.enabled.protocols names the versions of TLS.",
    "ssl.truststore.certificates": "The trusted certificates as PEM, instead of a file.",
    "ssl.truststore.location": "The PEM file with the trusted certificates.",
    "ssl.truststore.password": "Not used: a PEM trust store has no password.",
    "ssl.truststore.type": "The format of the trust store. Only PEM is supported.",
    "zookeeper.connect": "The servers of ZooKeeper, host:port, and the path of the cluster in it.",
    "zookeeper.connection.timeout.ms": "How long a starting broker tries to reach ZooKeeper.",
    "zookeeper.session.timeout.ms": "After what silence a broker counts as gone in ZooKeeper.",
    "zookeeper.set.acl": "Whether only brokers may write what they make in ZooKeeper.",
}

KEPT_DOCUMENTATION = "Kept for Kafka and its tools; it has no effect on this broker."
TOPIC_DOCUMENTATION: Final[Mapping[str, str]] = {
    "cleanup.policy": "What is done with old segments: delete removes them by age and size, "
    "compact keeps the last record of each key, both together do both.",
    "compression.gzip.level": "How hard gzip tries where compression.type is gzip: 1 to 9, or -1 "
    "for its default.",
    "compression.lz4.level": "How hard lz4 tries where compression.type is lz4: 1 to 17.",
    "compression.zstd.level": "How hard zstd tries where compression.type is zstd: -131072 to 22.",
    "compression.type": "The codec of stored batches; producer keeps that of the producer.",
    "delete.retention.ms": "How long a compacted topic keeps a delete marker, so that slow readers "
    "still see it.",
    "file.delete.delay.ms": "How long the files of a removed segment stay on disk.",
    "flush.messages": "After how many messages the log is forced to disk; by default never.",
    "flush.ms": "After what time the log is forced to disk. By default the system decides.",
    "index.interval.bytes": "The bytes of messages between two entries of the offset index.",
    "max.compaction.lag.ms": "The longest time a record of a compacted topic stays uncompacted.",
    "max.message.bytes": "The largest batch of records taken, as stored (after compression).",
    "message.timestamp.after.max.ms": "How far a record's own time may lie after the broker's "
    "clock (CreateTime only).",
    "message.timestamp.before.max.ms": "How far a record's own time may lie before the broker's "
    "clock (CreateTime only).",
    "message.timestamp.difference.max.ms": "How far a record's own time may lie from the broker's "
    "clock (CreateTime only), where before and after have no limits of their own.",
    "message.timestamp.type": "Whether a record has the time its producer gave it (CreateTime) or "
    "the time it was stored at (LogAppendTime).",
    "min.cleanable.dirty.ratio": "What share of a compacted log must be uncleaned before it is "
    "compacted.",
    "min.compaction.lag.ms": "The shortest time a record of a compacted topic stays uncompacted.",
    "min.insync.replicas": "How many replicas must have a record before a producer that waits for "
    "all of them is answered.",
    "preallocate": KEPT_DOCUMENTATION,
    "retention.bytes": "How large a partition may grow before its oldest segments are deleted. "
    "-1: no limit.",
    "retention.ms": "How old a segment's newest record may be before the segment is deleted. "
    "-1: no limit.",
    "segment.bytes": "How large a segment file may grow before the next one is begun.",
    "segment.index.bytes": "How large a segment's index may grow before the next one is begun.",
    "segment.jitter.ms": "How much earlier than segment.ms a segment may end, at random, so that "
    "segments do not all end at once.",
    "segment.ms": "After what time the next segment is begun even if this one is not full.",
    "unclean.leader.election.enable": "Whether a replica that is not in sync may lead when no "
    "other can, losing records.",
}
