#!/bin/sh
# brokerd get-offsets, by the name of Kafka's own script.
exec "$(dirname -- "$(readlink -f -- "$0")")/brokerd" get-offsets "$@"
