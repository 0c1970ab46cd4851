#!/bin/sh
# Installs, with apt, the programs that only tests use and that no wheel brings: the headless shell of
# Chromium (browser tests, which else take a Chromium that is there) and kcat (interoperability). Where
# that is not possible it says so; tests of which no program is there are skipped.
set -eu

missing=""
for program in chromium-headless-shell kcat; do
    command -v "$program" >/dev/null || missing="$missing $program"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "aerie: not installed:$missing (it takes apt and the right to use it: apt install$missing)."
    exit 0
fi
echo "aerie: installing with apt:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null || true
for program in $missing; do
    apt-get install -y -qq --no-install-recommends "$program" >/dev/null ||
        echo "aerie: apt could not install $program"
done
