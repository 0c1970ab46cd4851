#!/usr/bin/env bash
# Apache Kafka 3.9 in ZooKeeper mode as a peer: to measure brokerd against, and to read what it wrote.
#
#   bench/kafka.sh fetch                               get the jars, print the folder that holds them
#   bench/kafka.sh zookeeper DIR PORT                  one ZooKeeper, in the foreground
#   bench/kafka.sh broker DIR PORT ID ZK [key=value…]  one broker, in the foreground (ZK = host:port/chroot)
#   bench/kafka.sh dump-log|console-producer|console-consumer|topics|configs|consumer-groups|
#                  get-offsets|producer-perf|consumer-perf [argument…]
#   bench/kafka.sh run CLASS [argument…]               any other main class of Kafka (or a Java file)
#   bench/kafka.sh class VERB                          the main class behind a verb
#
# Kafka comes from KAFKA_HOME (an unpacked distribution) where that is set; else its jars are fetched
# once by Maven into ${XDG_CACHE_HOME:-~/.cache}/aerie-kafka. Java 17 and Maven are found on PATH.
# Exit code 3: there is neither; whoever calls this skips what needs Kafka.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/aerie-kafka
work=$cache/3.9.1

absent() {
  echo "kafka.sh: $1. Set KAFKA_HOME to an unpacked Apache Kafka 3.9, or install Java 17 and Maven." >&2
  exit 3
}

fetch() {
  command -v java >/dev/null || absent "no java on PATH"
  mkdir -p "$work"
  if [ -n "${KAFKA_HOME:-}" ]; then
    [ -d "$KAFKA_HOME/libs" ] || absent "KAFKA_HOME=$KAFKA_HOME has no folder libs"
    jars=$KAFKA_HOME/libs
  else
    jars=$work/jars
    [ -f "$work/.complete" ] || by_maven
  fi
  [ -f "$work/tools.log4j" ] || log_settings
}

by_maven() {
  command -v mvn >/dev/null || absent "neither KAFKA_HOME nor mvn is there"
  echo "kafka.sh: fetching Apache Kafka 3.9.1 by Maven into $work (about 120 MB, once)" >&2
  mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$jars" >&2 \
    || absent "Maven could not fetch Kafka's jars"
  touch "$work/.complete"
}

log_settings() {
  local level
  for level in INFO:server WARN:tools; do
    cat > "$work/${level#*:}.log4j" <<EOF
log4j.rootLogger=${level%:*}, err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.target=System.err
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%d %p %m (%c)%n
EOF
  done
}

start() { # KIND OPTIONS CLASS [argument…]
  local kind=$1 options=$2
  shift 2
  # shellcheck disable=SC2086  # the options are several
  exec java $options ${KAFKA_OPTS:-} -Djava.awt.headless=true \
    -Dlog4j.configuration="file:$work/$kind.log4j" -cp "$jars/*" "$@"
}

# A tool runs for a second: what a server gains from its compiler and collector comes too late.
tool() { start tools "${KAFKA_HEAP_OPTS:--Xmx512m} -XX:+UseSerialGC -XX:TieredStopAtLevel=1" "$@"; }
server() { start server "$1 -XX:+UseG1GC -XX:MaxGCPauseMillis=20" "${@:2}"; }

zookeeper() {
  mkdir -p "$1"
  cat > "$1/zoo.cfg" <<EOF
dataDir=$1
clientPort=$2
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=*
tickTime=500
maxClientCnxns=0
EOF
  server "-Xms64m -Xmx512m" org.apache.zookeeper.server.quorum.QuorumPeerMain "$1/zoo.cfg"
}

broker() {
  local dir=$1 port=$2 id=$3 zk=$4 pair
  shift 4
  mkdir -p "$dir"
  cat > "$dir/server.properties" <<EOF
broker.id=$id
listeners=PLAINTEXT://127.0.0.1:$port
advertised.listeners=PLAINTEXT://127.0.0.1:$port
log.dirs=$dir/logs
zookeeper.connect=$zk
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
EOF
  for pair in "$@"; do echo "$pair" >> "$dir/server.properties"; done
  server "${KAFKA_HEAP_OPTS:--Xms1G -Xmx1G}" kafka.Kafka "$dir/server.properties"
}

verb=${1:-}
[ -n "$verb" ] || { sed -n '2,15p' "${BASH_SOURCE[0]}" >&2; exit 2; }
shift
tools=org.apache.kafka.tools
asked=$verb
[ "$verb" != class ] || asked=${1:-}
case $asked in
  fetch | zookeeper | broker | run) class= ;;
  dump-log) class=kafka.tools.DumpLogSegments ;;
  console-producer) class=kafka.tools.ConsoleProducer ;;
  console-consumer) class=$tools.consumer.ConsoleConsumer ;;
  topics) class=$tools.TopicCommand ;;
  configs) class=kafka.admin.ConfigCommand ;;
  consumer-groups) class=$tools.consumer.group.ConsumerGroupCommand ;;
  get-offsets) class=$tools.GetOffsetShell ;;
  producer-perf) class=$tools.ProducerPerformance ;;
  consumer-perf) class=$tools.ConsumerPerformance ;;
  *) echo "kafka.sh: unknown verb $asked (the head of the file lists them)" >&2; exit 2 ;;
esac
[ "$verb" != class ] || { echo "$class"; exit; }
fetch
case $verb in
  fetch) echo "$jars" ;;
  zookeeper) zookeeper "$@" ;;
  broker) broker "$@" ;;
  run) tool "$@" ;;
  *-perf) server "${KAFKA_HEAP_OPTS:--Xmx512m}" "$class" "$@" ;;
  *) tool "$class" "$@" ;;
esac
