#!/bin/sh
# brokerd console-consumer, by the name of Kafka's own script.
exec "$(dirname -- "$0")/brokerd" console-consumer "$@"
