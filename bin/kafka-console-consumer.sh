#!/bin/sh
# brokerd console-consumer, by the name of Kafka's own script.
exec "$(dirname -- "$(readlink -f -- "$0")")/brokerd" console-consumer "$@"
