#!/bin/sh
# Installs, with apt, the programs that only tests use and that no wheel brings: Chromium (browser
# tests) and kcat (interoperability). Where that is not possible it says so; those tests are skipped.
set -eu

missing=""
command -v chromium >/dev/null || command -v chromium-browser >/dev/null ||
    command -v google-chrome >/dev/null || missing="chromium"
command -v kcat >/dev/null || missing="$missing kcat"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "aerie: not installed:" $missing "(it takes apt and the right to use it: apt install" \
        "$missing). The tests that need them are skipped."
    exit 0
fi
echo "aerie: installing with apt:" $missing
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >/dev/null
then
    echo "aerie: apt could not install:" $missing "- the tests that need them are skipped."
fi
