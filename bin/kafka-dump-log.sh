#!/bin/sh
# brokerd dump-log, by the name of Kafka's own script.
exec "$(dirname -- "$(readlink -f -- "$0")")/brokerd" dump-log "$@"
