"""Code → English text of every Reason. A code is stored, and so never changes its meaning.

`manage.py makemessages` finds the texts by `gettext_noop`; translate_error_reason.py
translates them.
"""


def gettext_noop(text: str) -> str:
    """Marks a text for translation, as Django's: the process of librdkafka loads no Django."""
    return text


# --- Connections and answers ------------------------------------------------------------------
_ANSWERS = {
    "no_bootstrap_servers": gettext_noop("the cluster has no bootstrap servers"),
    "no_answer_in_time": gettext_noop("no broker answered within %(seconds)s seconds"),
    "brokers_late": gettext_noop("the brokers did not answer in time"),
    "call_timed_out": gettext_noop("no answer within %(seconds)s seconds"),
    "timed_out": gettext_noop("timed out"),
    "no_connection": gettext_noop("no connection: %(why)s"),
    "host_unknown": gettext_noop("the host name does not resolve"),
    "no_tls": gettext_noop("TLS failed: %(why)s"),
    "not_tls": gettext_noop("the port does not speak TLS"),
    "certificate": gettext_noop("the broker's certificate is not accepted: %(why)s"),
    "no_answer": gettext_noop("no answer: %(why)s"),
    "connection_closed": gettext_noop("the connection was closed"),
    "closed_by_broker": gettext_noop("the broker closed the connection: %(why)s"),
    "at_address": gettext_noop("%(address)s: %(why)s"),
    "of_broker": gettext_noop("broker %(id)d: %(why)s"),
    "not_kafka": gettext_noop("%(address)s does not speak Kafka: %(why)s"),
    "no_live_broker": gettext_noop("%(address)s lists no live broker"),
    "old_version": gettext_noop(
        "%(address)s does not serve %(api)s version %(version)d; Aerie needs Kafka 3.0 or later, "
        "or brokerd"
    ),
    "api_not_offered": gettext_noop(
        "the cluster does not support this: its brokers do not offer %(api)s"
    ),
    "no_such_broker": gettext_noop("broker %(id)d is not up"),
    "lists_no_groups": gettext_noop("lists no groups (error %(error)d)"),
    "log_dirs_error": gettext_noop("does not tell its log directories (error %(error)d)"),
    "does_not_parse": gettext_noop("an answer does not parse: %(why)s"),
    "cluster_silent": gettext_noop("the cluster does not answer: %(why)s"),
    "cluster_unready": gettext_noop("the cluster cannot do this at the moment: %(why)s"),
    "cluster_says": "%(text)s",  # in the cluster's own words
    "kafka_error": gettext_noop("the broker refuses it (error %(error)d)"),
    "no_coordinator": gettext_noop("the group's coordinator is not available (error %(error)d)"),
    "group_has_members": gettext_noop(
        "the group has members. Kafka changes a group only while it has none. Stop its consumers "
        "first"
    ),
    "several": "%(reasons)s",
}
# --- TLS settings and logins --------------------------------------------------------------------
_LOGINS = {
    "tls_settings": gettext_noop("the cluster's certificate or key cannot be used: %(why)s"),
    "login_mechanism": gettext_noop(
        "the broker does not offer the SASL mechanism %(mechanism)s, only %(offered)s"
    ),
    "login_refused": gettext_noop("the broker refuses the login: %(why)s"),
    "login_untrusted": gettext_noop("the broker failed to prove that it knows the login: %(why)s"),
    "token_endpoint": gettext_noop("no access token from the token endpoint: %(why)s"),
    "token_status": gettext_noop("the token endpoint answers with status %(status)d"),
    "token_format": gettext_noop("the token endpoint does not answer with an access token"),
}
# --- librdkafka's processes -------------------------------------------------------------------
_PROCESSES = {
    "calls_full": gettext_noop(
        "%(n)d requests to clusters are waiting for answers already. Try it again in a moment"
    ),
    "searches_full": gettext_noop(
        "%(n)d searches are running already. Stop one, or try it again in a moment"
    ),
    "not_decoded_in_time": gettext_noop(
        "the cluster's answers could not be read within %(seconds)s seconds"
    ),
    "decoder_died": gettext_noop(
        "the cluster's answers could not be read: a broker does not keep to Kafka's protocol, or "
        "this machine is short of memory (the process that read them ended with %(how)s)"
    ),
}
# --- Records ----------------------------------------------------------------------------------
_RECORDS = {
    "offset_needs_partition": gettext_noop("an offset needs a partition"),
    "topic_not_on_cluster": gettext_noop("the cluster has no topic %(topic)s"),
    "partition_gone": gettext_noop("the topic or partition does not exist any more"),
    "partition_no_leader": gettext_noop("the partition has no leader"),
    "partition_sends_nothing": gettext_noop("the leader sends no records from these offsets on"),
    "throttled": gettext_noop("a quota of the cluster delays the console for longer than this"),
    "no_partition": gettext_noop("topic %(topic)s has no partition %(partition)d"),
    "offsets_held": gettext_noop(
        "partition %(partition)d of %(topic)s holds offsets %(first)d to %(last)d"
    ),
    "partition_empty": gettext_noop(
        "partition %(partition)d of %(topic)s is empty; the next offset is %(next)d"
    ),
    "partition_unread": gettext_noop("partition %(partition)d of %(topic)s could not be read"),
    "open_transaction": gettext_noop(
        "the records of partition %(partition)d from offset %(offset)d on belong to a transaction "
        "that is not committed yet"
    ),
    "record_unknown": gettext_noop(
        "there was no acknowledgement, the record may have been written (%(why)s)"
    ),
    "record_gone": gettext_noop(
        "partition %(partition)d of %(topic)s holds no record of offset %(offset)d any more"
    ),
}
# --- Schema registries ------------------------------------------------------------------------
_REGISTRIES = {
    "registry_silent": gettext_noop("the schema registry does not answer: %(why)s"),
    "registry_url": gettext_noop("the schema registry cannot be requested: %(why)s"),
    "registry_certificate": gettext_noop(
        "the schema registry's certificate is not accepted: %(why)s"
    ),
    "registry_login": gettext_noop("the schema registry refuses the login (status %(status)d)"),
    "registry_status": gettext_noop("the schema registry answers with status %(status)d"),
    "registry_refuses": gettext_noop("the schema registry refuses it (status %(status)d): %(why)s"),
    "registry_format": gettext_noop(
        "the answer of the schema registry has an unknown format: %(why)s"
    ),
    "schema_missing": gettext_noop("the schema registry has no schema with the id %(id)d"),
    "schema_type": gettext_noop("schema %(id)d has the type %(type)s, which Aerie does not read"),
    "schema_invalid": gettext_noop("schema %(id)d cannot be used: %(why)s"),
    "schema_references": gettext_noop("schema %(id)d has references that cannot be read: %(why)s"),
    "schema_data": gettext_noop("the data do not match schema %(id)d: %(why)s"),
    "schema_unfit": gettext_noop("at “%(path)s”: %(why)s"),
    "registry_none": gettext_noop("the cluster has no schema registry"),
    "version_missing": gettext_noop(
        "the schema registry has no version %(version)s of subject “%(subject)s”"
    ),
    "subject_missing": gettext_noop("the schema registry has no subject “%(subject)s”"),
    "schema_message": gettext_noop("schema %(id)d has no message “%(name)s”"),
    "schema_data_size": gettext_noop("data of more than %(max)d bytes are not decoded"),
    "schema_budget": gettext_noop(
        "not decoded, because other records took too long. Read fewer records at once"
    ),
    "registry_slow": gettext_noop("not decoded, because the schema registry answers too slowly"),
    "schema_lookups": gettext_noop(
        "not decoded, because the records name too many schemas that the registry does not have"
    ),
}
# --- Admin ports of brokerd -------------------------------------------------------------------
_ADMIN_PORTS = {
    "no_admin_address": gettext_noop(
        "broker %(id)d has no admin address in this cluster's settings; only brokerd has an admin "
        "port"
    ),
    "admin_port": gettext_noop("the admin port: %(why)s"),
    "admin_port_of": gettext_noop("the admin port of broker %(id)d: %(why)s"),
    "admin_port_silent": gettext_noop("the admin port does not answer: %(why)s"),
    "admin_port_of_silent": gettext_noop(
        "the admin port of broker %(id)d does not answer: %(why)s"
    ),
    "admin_port_format": gettext_noop("the admin port's answer has an unknown format"),
    "admin_port_format_why": gettext_noop("the admin port's answer has an unknown format: %(why)s"),
    "admin_port_not_json": gettext_noop("the admin port does not answer in JSON"),
    "admin_port_status": gettext_noop("the admin port answers %(status)d to %(path)s"),
    "admin_token_refused": gettext_noop(
        "broker %(id)d refuses the admin token of this cluster's settings"
    ),
    "broker_has_not": gettext_noop("broker %(id)d does not have that"),
    "broker_not_ready": gettext_noop("broker %(id)d is not ready"),
    "broker_status": gettext_noop("broker %(id)d answers %(status)d: %(why)s"),
    "no_metrics_address": gettext_noop(
        "broker %(id)d has neither a metrics address nor an admin address in this cluster's "
        "settings"
    ),
    "metrics_of": gettext_noop("the metrics of broker %(id)d: %(why)s"),
    "metrics_of_silent": gettext_noop(
        "the metrics address of broker %(id)d cannot be reached: %(why)s. Check its host and port "
        "in the cluster's settings"
    ),
    "metrics_no_connection": gettext_noop(
        "no connection could be made, or its certificate is not accepted"
    ),
    "metrics_timed_out": gettext_noop(
        "the metrics address of broker %(id)d does not answer within %(seconds)d s. An exporter "
        "that is slow needs rules for fewer metrics"
    ),
    "metrics_token_refused": gettext_noop(
        "the metrics address of broker %(id)d refuses the token of this cluster's settings (status "
        "%(status)d)"
    ),
    "metrics_status": gettext_noop(
        "the metrics address of broker %(id)d answers with status %(status)d. Check its path in "
        "the cluster's settings"
    ),
    "metrics_format": gettext_noop(
        "the metrics address of broker %(id)d does not answer in Prometheus' text format: %(why)s"
    ),
    "metrics_without_requests": gettext_noop(
        "the metrics of broker %(id)d have no kafka_network_requestmetrics_…. A JMX exporter needs "
        "the rules of its example for Kafka"
    ),
    "answer_encoding": gettext_noop(
        "it answers in the encoding %(encoding)s, which was not asked for"
    ),
    "answer_bytes": gettext_noop("it answers more than %(max)d bytes"),
    "answer_values": gettext_noop("it answers more than %(max)d values"),
}
# --- Log directories (AERIE_LOG_DIRS) -----------------------------------------------------------
_LOG_DIRECTORIES = {
    "log_dir_none": gettext_noop("no log directory of broker %(id)d is set"),
    "log_dir_without": gettext_noop(
        "the log directories that are set for broker %(id)d do not have partition %(partition)d of "
        "%(topic)s"
    ),
    "log_dir_refused": gettext_noop(
        "the console may not read the log directory of broker %(id)d: its user needs the right"
    ),
    "log_dir_unreadable": gettext_noop(
        "the log directory of broker %(id)d cannot be read: %(why)s"
    ),
    "log_dir_file_gone": gettext_noop("the broker removed the segment meanwhile"),
    "log_dir_no_segment": gettext_noop("no segment begins at offset %(offset)d"),
    "log_dir_no_batch": gettext_noop("no batch starts at byte %(position)d of the segment"),
    "log_dir_damaged": gettext_noop("the file %(file)s is damaged: %(why)s"),
    "index_cut": gettext_noop("it ends within an entry"),
    "index_shorter": gettext_noop("it has become shorter"),
    "index_negative": gettext_noop("an entry is negative"),
    "index_order": gettext_noop("its entries do not rise"),
    "index_beyond": gettext_noop("an entry points behind the end of the log file"),
    "checkpoint_version": gettext_noop("its version is not 0"),
    "checkpoint_line": gettext_noop("a line is not valid"),
    "checkpoint_count": gettext_noop("it has not as many lines as it says"),
}
# --- Invalid parts of a cluster's answers -----------------------------------------------------
_INVALID = {
    "and_more": gettext_noop("and others like these: %(n)d"),
    "answer_size": gettext_noop("an answer with an invalid size of %(size)d bytes"),
    "pass_size": gettext_noop("the cluster's answers to one sample have more than %(max)d bytes"),
    "answer_slow": gettext_noop("an answer of %(size)d bytes does not come within %(seconds)s s"),
    "group_unrequested": gettext_noop("group %(group)s was not requested"),
    "broker_port": gettext_noop("its broker %(id)d has the invalid port %(port)d"),
    "topic_name": gettext_noop("a topic with a name of %(n)d characters: %(name)s"),
    "topic_partition": gettext_noop(
        "topic %(topic)s: partition %(partition)d, but it has %(count)d partitions"
    ),
    "topic_offsets": gettext_noop("topic %(topic)s: invalid offsets"),
    "broker_sizes": gettext_noop("broker %(id)d: invalid sizes of its replicas"),
    "group_name": gettext_noop("a group with a name of %(n)d characters: %(name)s"),
    "group_members": gettext_noop("group %(group)s: %(n)d members"),
    "member_names": gettext_noop("group %(group)s: the names of member %(member)s"),
    "member_assignment": gettext_noop(
        "group %(group)s: the assignment of member %(member)s, which cannot be read"
    ),
    "group_far_commits": gettext_noop(
        "group %(group)s: commits that are too far from the end of their partition"
    ),
    "group_too_large": gettext_noop("group %(group)s: its commits and members, which are too many"),
    "group_partitions": gettext_noop(
        "group %(group)s: partitions that topic %(topic)s does not have"
    ),
    "group_unknown_topics": gettext_noop(
        "group %(group)s: most partitions of topics that the cluster does not have"
    ),
    "silent_groups": gettext_noop("groups whose coordinators do not answer, which are too many"),
}
_TOO_MANY = {
    "too_many_groups": gettext_noop("more than %(max)d groups; Aerie reads no more"),
    "too_many_group_topics": gettext_noop(
        "more than %(max)d topics that groups have committed to; Aerie reads no more"
    ),
    "too_many_members": gettext_noop("more than %(max)d members of groups; Aerie reads no more"),
    "too_many_apis": gettext_noop("more than %(max)d APIs; Aerie reads no more"),
    "too_many_brokers": gettext_noop("more than %(max)d brokers; Aerie reads no more"),
    "too_long_id": gettext_noop("more than %(max)d characters in its id; Aerie reads no more"),
    "too_many_topics": gettext_noop("more than %(max)d topics; Aerie reads no more"),
    "too_long_host": gettext_noop(
        "more than %(max)d characters in a broker's host or rack; Aerie reads no more"
    ),
    "too_many_partitions": gettext_noop("more than %(max)d partitions; Aerie reads no more"),
    "too_many_replicas": gettext_noop("more than %(max)d replicas; Aerie reads no more"),
    "too_many_replica_brokers": gettext_noop(
        "more than %(max)d replicas of one partition; Aerie reads no more"
    ),
    "too_many_holding_brokers": gettext_noop(
        "more than %(max)d brokers with replicas; Aerie reads no more"
    ),
    "too_many_things": gettext_noop("more than %(max)d items in one answer; Aerie reads no more"),
    "too_many_log_dirs": gettext_noop(
        "more than %(max)d topics and directories of one broker; Aerie reads no more"
    ),
    "too_many_broker_replicas": gettext_noop(
        "more than %(max)d replicas of one broker; Aerie reads no more"
    ),
}
# --- Samples ----------------------------------------------------------------------------------
_SAMPLES = {
    "not_run": gettext_noop("no worker ran this tick in time"),
    "still_reading": gettext_noop("the previous tick was still being read"),
    "longer_than_tick": gettext_noop("reading the cluster took longer than a tick"),
    "answer_refused": gettext_noop("the cluster's answer was refused: %(why)s"),
    "settings_unreadable": gettext_noop("the cluster's settings cannot be used: %(why)s"),
}
# --- Jobs of the data pipeline ------------------------------------------------------------------
PIPELINE = {
    "spark_not_available": gettext_noop("Spark is not available: %(why)s"),
    "job_too_long": gettext_noop("the job took longer than %(minutes)d minutes"),
    "disk_full": gettext_noop("no space is left for the history: %(why)s"),
    "history_unreadable": gettext_noop("a file of the history cannot be read or written: %(why)s"),
    "other_worker": gettext_noop("another worker did the same job"),
    "job_failed": gettext_noop("the Spark job failed: %(why)s"),
    "worker_lost": gettext_noop("the worker that did it ended"),
}
# --- Alerts: why one resolved, and why a message could not be sent -------------------------------
_ALERTS = {
    "alert_subject_gone": gettext_noop(
        "the group or topic does not exist any more, or the rule does not match it"
    ),
    "alert_rule_disabled": gettext_noop("the rule was disabled"),
    "alert_rule_changed": gettext_noop("the rule was changed"),
    # The lag is a lower bound: partitions with commits beyond their ends count as 0.
    "alert_commits_ahead": gettext_noop(
        "the lag fell; partitions whose commits are beyond their ends: %(n)d, by %(by)d together"
    ),
    "webhook_removed": gettext_noop("the rule no longer has a webhook"),
    "webhook_failed": gettext_noop("the request failed: %(error)s"),
    "webhook_url": gettext_noop("the URL cannot be requested: %(error)s"),
    "webhook_status": gettext_noop("answered %(status)d"),
    "webhook_redirect": gettext_noop("answered %(status)d; redirects are not followed"),
}
# --- URLs that are requested (egress/url_checks.py), stored secrets (encryption.py) ---------------
_EGRESS = {
    "address_invalid": gettext_noop("%(part)s is not host:port"),
    "url_too_long": gettext_noop("the URL is longer than %(max)d characters"),
    "url_control_character": gettext_noop("the URL contains a control character"),
    "url_unparsable": gettext_noop("the URL does not parse"),
    "url_scheme": gettext_noop("the URL must start with http:// or https://"),
    "url_without_host": gettext_noop("the URL has no host"),
    "url_with_login": gettext_noop("the URL must not contain a user name or password"),
    "url_port_0": gettext_noop("the URL has port 0, on which nothing can listen"),
    "url_host": gettext_noop("the URL's host is neither a name nor an address"),
    "host_unresolved": gettext_noop("%(host)s does not resolve"),
    "address_not_public": gettext_noop(
        "%(host)s is not a public address. An admin can allow it on the page “Outgoing requests” "
        "or by the setting AERIE_EGRESS_ALLOW"
    ),
    "address_of_metadata": gettext_noop(
        "%(host)s is an address where clouds give out the metadata of machines, or link-local. It "
        "can never be allowed"
    ),
    "target_invalid": gettext_noop(
        "“%(text)s” is neither a host name nor an address nor a network. Write it like "
        "hooks.internal, 10.1.2.3 or 10.1.0.0/16, without https:// and path"
    ),
    "target_too_wide": gettext_noop(
        "%(text)s has too many addresses. A network needs a prefix of at least %(least)d bits"
    ),
    "target_public": gettext_noop("%(text)s is public. Requests may reach it without an entry"),
}
_SECRETS = {
    "secret_key_missing": gettext_noop(
        "AERIE_SECRET_KEY_FILE=%(path)s is missing, and the database has secrets that were "
        "encrypted with it (%(n)d). Restore the file from your backup. If there is none, "
        "`.venv/bin/python manage.py newkey` makes a new key; tokens, passwords and private keys "
        "of clusters and webhooks of alert rules must be entered again then"
    ),
    "secret_undecryptable": gettext_noop(
        "a stored secret cannot be decrypted with the keys in AERIE_SECRET_KEY_FILE: add the old "
        "key as a second line, or enter the secret again"
    ),
}

TEXTS = {
    **_ANSWERS,
    **_LOGINS,
    **_PROCESSES,
    **_RECORDS,
    **_REGISTRIES,
    **_ADMIN_PORTS,
    **_LOG_DIRECTORIES,
    **_INVALID,
    **_TOO_MANY,
    **_SAMPLES,
    **PIPELINE,
    **_ALERTS,
    **_EGRESS,
    **_SECRETS,
}
