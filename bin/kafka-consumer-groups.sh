#!/bin/sh
# brokerd consumer-groups, by the name of Kafka's own script.
exec "$(dirname -- "$0")/brokerd" consumer-groups "$@"
