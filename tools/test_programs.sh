#!/bin/sh
# Installs, with apt, the programs that only tests use and that no wheel brings: the headless shell of
# Chromium (for browser tests; without it they use an installed Chromium) and kcat (interoperability).
# If one cannot be installed, a message says so, and the tests that need it are skipped.
set -eu

has() {
    command -v "$1" >/dev/null
}

missing=""
has chromium-headless-shell || has chromium || has chromium-browser || missing=" chromium-headless-shell"
has kcat || missing="$missing kcat"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! has apt-get; then
    echo "aerie: not installed:$missing (it takes apt and the right to use it: apt install$missing)." \
        "The tests that need them are skipped."
    exit 0
fi
echo "aerie: installing with apt:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null || true
for program in $missing; do
    case $program in
        chromium-headless-shell) names="chromium-headless-shell chromium" ;;
        *) names=$program ;;
    esac
    for name in $names; do
        ! apt-get install -y -qq --no-install-recommends "$name" >/dev/null || continue 2
    done
    echo "aerie: apt could not install $program: the tests that need it are skipped."
done
