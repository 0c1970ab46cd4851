#!/bin/sh
# brokerd configs, by the name of Kafka's own script.
exec "$(dirname -- "$0")/brokerd" configs "$@"
