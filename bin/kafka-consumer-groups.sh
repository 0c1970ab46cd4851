#!/bin/sh
# brokerd consumer-groups, by the name of Kafka's own script.
exec "$(dirname -- "$(readlink -f -- "$0")")/brokerd" consumer-groups "$@"
