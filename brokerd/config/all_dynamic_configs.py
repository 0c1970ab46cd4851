"""Every broker setting of Apache Kafka 3.9: its type, and its update mode, which says whether it
may change while brokers run (Kafka's DynamicBrokerConfig.AllDynamicConfigs, KIP-226).

`validate_reconfiguration` goes by the modes: a change is refused, accepted, or stored without
effect. The settings with an effect are in `broker_config`. Kafka keeps unknown names for plug-ins,
and returns them as secrets.
"""

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from brokerd.config.value_parsers import ConfigType


class UpdateMode(IntEnum):
    """Where a setting may be changed while brokers run."""

    READ_ONLY = 0
    PER_BROKER = 1
    CLUSTER_WIDE = 2
    """For one broker, or as the default of all."""


class KnownSetting(NamedTuple):
    type: ConfigType
    mode: UpdateMode


_CLUSTER_WIDE = {
    ConfigType.BOOLEAN: """
        log.message.downconversion.enable log.preallocate
        transaction.partition.verification.enable unclean.leader.election.enable
        """,
    ConfigType.DOUBLE: """
        log.cleaner.io.buffer.load.factor log.cleaner.io.max.bytes.per.second
        log.cleaner.min.cleanable.ratio
        """,
    ConfigType.INT: """
        background.threads compression.gzip.level compression.lz4.level compression.zstd.level
        log.cleaner.io.buffer.size log.cleaner.threads log.index.interval.bytes
        log.index.size.max.bytes log.segment.bytes max.connection.creation.rate max.connections
        max.connections.per.ip message.max.bytes min.insync.replicas num.io.threads
        num.network.threads num.recovery.threads.per.data.dir num.replica.fetchers
        producer.id.expiration.ms remote.fetch.max.wait.ms
        """,
    ConfigType.LIST: """
        log.cleanup.policy metric.reporters
        """,
    ConfigType.LONG: """
        log.cleaner.backoff.ms log.cleaner.dedupe.buffer.size log.cleaner.delete.retention.ms
        log.cleaner.max.compaction.lag.ms log.cleaner.min.compaction.lag.ms
        log.flush.interval.messages log.flush.interval.ms log.local.retention.bytes
        log.local.retention.ms log.message.timestamp.after.max.ms
        log.message.timestamp.before.max.ms log.message.timestamp.difference.max.ms
        log.retention.bytes log.retention.ms log.roll.jitter.ms log.roll.ms
        log.segment.delete.delay.ms remote.log.index.file.cache.total.size.bytes
        remote.log.manager.copy.max.bytes.per.second
        remote.log.manager.fetch.max.bytes.per.second
        """,
    ConfigType.STRING: """
        compression.type log.message.timestamp.type max.connections.per.ip.overrides
        """,
}
_PER_BROKER = {
    ConfigType.CLASS: """
        principal.builder.class ssl.engine.factory.class
        """,
    ConfigType.DOUBLE: """
        sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
        sasl.login.refresh.window.factor sasl.login.refresh.window.jitter
        """,
    ConfigType.LIST: """
        sasl.enabled.mechanisms sasl.kerberos.principal.to.local.rules ssl.cipher.suites
        ssl.enabled.protocols
        """,
    ConfigType.LONG: """
        sasl.kerberos.min.time.before.relogin
        """,
    ConfigType.PASSWORD: """
        sasl.jaas.config ssl.key.password ssl.keystore.certificate.chain ssl.keystore.key
        ssl.keystore.password ssl.truststore.certificates ssl.truststore.password
        """,
    ConfigType.SHORT: """
        sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds
        """,
    ConfigType.STRING: """
        advertised.listeners listener.security.protocol.map listeners sasl.kerberos.kinit.cmd
        sasl.kerberos.service.name sasl.mechanism.inter.broker.protocol ssl.client.auth
        ssl.endpoint.identification.algorithm ssl.keymanager.algorithm ssl.keystore.location
        ssl.keystore.type ssl.protocol ssl.provider ssl.secure.random.implementation
        ssl.trustmanager.algorithm ssl.truststore.location ssl.truststore.type
        """,
}
_READ_ONLY = {
    ConfigType.BOOLEAN: """
        auto.create.topics.enable auto.include.jmx.reporter auto.leader.rebalance.enable
        broker.id.generation.enable controlled.shutdown.enable delete.topic.enable
        eligible.leader.replicas.enable log.cleaner.enable remote.log.storage.system.enable
        ssl.allow.dn.changes ssl.allow.san.changes zookeeper.metadata.migration.enable
        zookeeper.set.acl zookeeper.ssl.client.enable zookeeper.ssl.crl.enable
        zookeeper.ssl.ocsp.enable
        """,
    ConfigType.CLASS: """
        alter.config.policy.class.name client.quota.callback.class
        create.topic.policy.class.name sasl.client.callback.handler.class
        sasl.login.callback.handler.class sasl.login.class sasl.server.callback.handler.class
        """,
    ConfigType.INT: """
        alter.log.dirs.replication.quota.window.num
        alter.log.dirs.replication.quota.window.size.seconds broker.heartbeat.interval.ms
        broker.id broker.session.timeout.ms connection.failed.authentication.delay.ms
        producer.id.expiration.check.interval.ms
        controlled.shutdown.max.retries controller.quorum.append.linger.ms
        controller.quorum.election.backoff.max.ms controller.quorum.election.timeout.ms
        controller.quorum.fetch.timeout.ms controller.quorum.request.timeout.ms
        controller.quorum.retry.backoff.ms controller.quota.window.num
        controller.quota.window.size.seconds controller.socket.timeout.ms
        default.replication.factor delete.records.purgatory.purge.interval.requests
        fetch.max.bytes fetch.purgatory.purge.interval.requests
        group.consumer.heartbeat.interval.ms group.consumer.max.heartbeat.interval.ms
        group.consumer.max.session.timeout.ms group.consumer.max.size
        group.consumer.min.heartbeat.interval.ms group.consumer.min.session.timeout.ms
        group.consumer.session.timeout.ms group.coordinator.append.linger.ms
        group.coordinator.threads group.initial.rebalance.delay.ms group.max.session.timeout.ms
        group.max.size group.min.session.timeout.ms group.share.delivery.count.limit
        group.share.heartbeat.interval.ms group.share.max.heartbeat.interval.ms
        group.share.max.record.lock.duration.ms group.share.max.session.timeout.ms
        group.share.min.heartbeat.interval.ms group.share.min.record.lock.duration.ms
        group.share.min.session.timeout.ms group.share.partition.max.record.locks
        group.share.record.lock.duration.ms group.share.session.timeout.ms
        initial.broker.registration.timeout.ms kafka.metrics.polling.interval.secs
        leader.imbalance.per.broker.percentage log.flush.offset.checkpoint.interval.ms
        log.flush.start.offset.checkpoint.interval.ms log.retention.hours log.retention.minutes
        log.roll.hours log.roll.jitter.hours max.incremental.fetch.session.cache.slots
        max.request.partition.size.limit metadata.log.segment.bytes
        metadata.max.idle.interval.ms metrics.num.samples node.id num.partitions
        num.replica.alter.log.dirs.threads offset.metadata.max.bytes offsets.commit.timeout.ms
        offsets.load.buffer.size offsets.retention.minutes offsets.topic.compression.codec
        offsets.topic.num.partitions offsets.topic.segment.bytes password.encoder.iterations
        password.encoder.key.length producer.purgatory.purge.interval.requests
        queued.max.requests quota.window.num quota.window.size.seconds
        remote.log.manager.copier.thread.pool.size remote.log.manager.copy.quota.window.num
        remote.log.manager.copy.quota.window.size.seconds
        remote.log.manager.expiration.thread.pool.size remote.log.manager.fetch.quota.window.num
        remote.log.manager.fetch.quota.window.size.seconds remote.log.manager.thread.pool.size
        remote.log.metadata.custom.metadata.max.bytes remote.log.reader.max.pending.tasks
        remote.log.reader.threads replica.fetch.backoff.ms replica.fetch.max.bytes
        replica.fetch.min.bytes replica.fetch.response.max.bytes replica.fetch.wait.max.ms
        replica.socket.receive.buffer.bytes replica.socket.timeout.ms
        replication.quota.window.num replication.quota.window.size.seconds request.timeout.ms
        reserved.broker.max.id sasl.login.connect.timeout.ms sasl.login.read.timeout.ms
        sasl.oauthbearer.clock.skew.seconds sasl.server.max.receive.size
        socket.listen.backlog.size socket.receive.buffer.bytes socket.request.max.bytes
        socket.send.buffer.bytes telemetry.max.bytes
        transaction.abort.timed.out.transaction.cleanup.interval.ms transaction.max.timeout.ms
        transaction.remove.expired.transaction.cleanup.interval.ms
        transaction.state.log.load.buffer.size transaction.state.log.min.isr
        transaction.state.log.num.partitions transaction.state.log.segment.bytes
        transactional.id.expiration.ms zookeeper.connection.timeout.ms
        zookeeper.max.in.flight.requests zookeeper.session.timeout.ms
        """,
    ConfigType.LIST: """
        controller.quorum.bootstrap.servers controller.quorum.voters group.consumer.assignors
        group.coordinator.rebalance.protocols kafka.metrics.reporters process.roles
        sasl.oauthbearer.expected.audience zookeeper.ssl.cipher.suites
        zookeeper.ssl.enabled.protocols
        """,
    ConfigType.LONG: """
        connections.max.idle.ms connections.max.reauth.ms controlled.shutdown.retry.backoff.ms
        delegation.token.expiry.check.interval.ms delegation.token.expiry.time.ms
        delegation.token.max.lifetime.ms leader.imbalance.check.interval.seconds
        log.dir.failure.timeout.ms log.flush.scheduler.interval.ms
        log.retention.check.interval.ms metadata.log.max.record.bytes.between.snapshots
        metadata.log.max.snapshot.interval.ms metadata.log.segment.ms
        metadata.max.retention.bytes metadata.max.retention.ms metrics.sample.window.ms
        offsets.retention.check.interval.ms queued.max.request.bytes
        remote.log.manager.task.interval.ms replica.high.watermark.checkpoint.interval.ms
        replica.lag.time.max.ms sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms
        sasl.oauthbearer.jwks.endpoint.refresh.ms
        sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms
        sasl.oauthbearer.jwks.endpoint.retry.backoff.ms socket.connection.setup.timeout.max.ms
        socket.connection.setup.timeout.ms
        """,
    ConfigType.PASSWORD: """
        delegation.token.master.key delegation.token.secret.key password.encoder.old.secret
        password.encoder.secret zookeeper.ssl.keystore.password
        zookeeper.ssl.truststore.password
        """,
    ConfigType.SHORT: """
        group.share.max.groups group.share.max.size offsets.commit.required.acks
        offsets.topic.replication.factor transaction.state.log.replication.factor
        """,
    ConfigType.STRING: """
        authorizer.class.name broker.rack control.plane.listener.name controller.listener.names
        early.start.listeners inter.broker.listener.name inter.broker.protocol.version log.dir
        log.dirs log.message.format.version metadata.log.dir metrics.recording.level
        password.encoder.cipher.algorithm password.encoder.keyfactory.algorithm
        remote.log.metadata.manager.class.name remote.log.metadata.manager.class.path
        remote.log.metadata.manager.impl.prefix remote.log.metadata.manager.listener.name
        remote.log.storage.manager.class.name remote.log.storage.manager.class.path
        remote.log.storage.manager.impl.prefix replica.selector.class
        sasl.mechanism.controller.protocol sasl.oauthbearer.expected.issuer
        sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.scope.claim.name
        sasl.oauthbearer.sub.claim.name sasl.oauthbearer.token.endpoint.url
        security.inter.broker.protocol security.providers ssl.principal.mapping.rules
        zookeeper.clientCnxnSocket zookeeper.connect
        zookeeper.ssl.endpoint.identification.algorithm zookeeper.ssl.keystore.location
        zookeeper.ssl.keystore.type zookeeper.ssl.protocol zookeeper.ssl.truststore.location
        zookeeper.ssl.truststore.type
        """,
}
_OF_A_LISTENER = re.compile(r"listener\.name\.[^.]*\.(.*)")


def _known() -> dict[str, KnownSetting]:
    tables = (
        (UpdateMode.CLUSTER_WIDE, _CLUSTER_WIDE),
        (UpdateMode.PER_BROKER, _PER_BROKER),
        (UpdateMode.READ_ONLY, _READ_ONLY),
    )
    return {
        name: KnownSetting(kind, mode)
        for mode, table in tables
        for kind, names in table.items()
        for name in names.split()
    }


KAFKA_SETTINGS: Final[Mapping[str, KnownSetting]] = _known()


def known_setting(name: str) -> KnownSetting | None:
    """Kafka's definition of a broker setting, also with a listener's prefix
    (`listener.name.<listener>.<setting>`); None for an unknown name."""
    of_listener = _OF_A_LISTENER.fullmatch(name)
    return KAFKA_SETTINGS.get(of_listener.group(1) if of_listener else name)
