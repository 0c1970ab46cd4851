#!/bin/sh
# brokerd log-dirs, by the name of Kafka's own script.
exec "$(dirname -- "$(readlink -f -- "$0")")/brokerd" log-dirs "$@"
