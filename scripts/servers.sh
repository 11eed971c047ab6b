#!/usr/bin/env bash
# Looks for the servers and tools that the tests start (HOLDFAST_SKIP names those that are not wanted), and installs what is missing where
# it may. Ends with 69 where something is missing and may not be installed, so that no test run begins without it.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }

wanted=()
# command:package
for server in postgres:postgresql redis-server:redis-server pgbouncer:pgbouncer openssl:openssl promtool:prometheus chromium:chromium; do
  command="${server%%:*}"
  case ",${HOLDFAST_SKIP:-}," in *",${command%-server},"*) say "without $command: HOLDFAST_SKIP"; continue ;; esac
  [ "$command" = chromium ] && { command -v chromium-browser || command -v google-chrome; } >/dev/null && continue
  command -v "$command" >/dev/null || compgen -G "/usr/lib/postgresql/*/bin/$command" >/dev/null || wanted+=("${server##*:}")
done
if [ "${#wanted[@]}" -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing ${wanted[*]} with apt-get, for the tests"
    policy=/usr/sbin/policy-rc.d # Debian would start them as services, which nobody here wants
    if [ ! -e "$policy" ]; then
      printf '#!/bin/sh\nexit 101\n' >"$policy"
      chmod +x "$policy"
      trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${wanted[@]}"; } >&2
  else
    say "not found: ${wanted[*]}. The tests start servers of their own: install them (Debian, Ubuntu: apt-get install ${wanted[*]}),"
    say 'or leave their tests out by name, for example HOLDFAST_SKIP=postgres,pgbouncer,redis,promtool,chromium make test.'
    exit 69
  fi
fi
