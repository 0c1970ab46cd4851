#!/bin/sh
# brokerd delete-records, by the name of Kafka's own script.
exec "$(dirname -- "$(readlink -f -- "$0")")/brokerd" delete-records "$@"
