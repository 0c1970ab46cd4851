"""The checks of what a producer sends (Kafka's LogValidator). All of them are pure and raise
KafkaError with the error code of the answer; `validate_messages.py` decides which run.
"""
