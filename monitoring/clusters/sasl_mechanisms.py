"""The SASL mechanisms with which a cluster's clients log in, by Kafka's names.

The messages of each are in monitoring/gateway/wire/sasl.py, the properties for librdkafka in
kafka_client_settings.py, the fields that it needs in console/clusters/security_form.py.
"""

PLAIN, SCRAM_256, SCRAM_512, OAUTHBEARER = SASL_MECHANISMS = (
    "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER",
)  # fmt: skip
