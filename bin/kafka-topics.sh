#!/bin/sh
# brokerd topics, by the name of Kafka's own script.
exec "$(dirname -- "$0")/brokerd" topics "$@"
