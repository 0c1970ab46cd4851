#!/bin/sh
# brokerd topics, by the name of Kafka's own script.
exec "$(dirname -- "$(readlink -f -- "$0")")/brokerd" topics "$@"
