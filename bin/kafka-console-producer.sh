#!/bin/sh
# brokerd console-producer, by the name of Kafka's own script.
exec "$(dirname -- "$(readlink -f -- "$0")")/brokerd" console-producer "$@"
