#!/usr/bin/env bash
# Makes a fresh clone ready: looks at Node, looks for a C++ toolchain (the SQLite driver may have to be compiled), installs
# the packages of the lockfile and tries the driver. Called by `make setup`, which decides whether it is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  say 'Node.js 20.19 or newer, with npm, is needed and was not found on PATH.'
  exit 1
fi
if ! node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'; then
  say "Node.js 20.19 or newer is needed; this is $(node --version)."
  exit 1
fi

missing=()
command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || missing+=('a C++ compiler')
command -v python3 >/dev/null || missing+=('python3')
if [ "${#missing[@]}" -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "${missing[*]} not found; installing build-essential and python3 with apt-get"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends build-essential python3; } >&2
  else
    say "not found: ${missing[*]}. Compiling the SQLite driver needs a C++ compiler, make and python3"
    say '(Debian, Ubuntu: build-essential python3; Fedora: gcc-c++ make python3; macOS: xcode-select --install).'
    say 'Going on: for some platforms a compiled driver can be downloaded.'
  fi
fi

# Node's own headers, where they lie beside it, save a download while compiling. npm before 11 hands them on under the
# first name; newer ones warn about that name and know the second.
prefix="$(node -p 'require("node:path").resolve(process.execPath, "../..")')"
header="$prefix/include/node/node_version.h"
if [ -f "$header" ]; then
  version="$(awk '/#define NODE_(MAJOR|MINOR|PATCH)_VERSION/ { printf "%s%s", dot, $3; dot = "." }' "$header")"
  if [ "v$version" = "$(node --version)" ]; then
    if [ "$(npm --version | cut -d . -f 1)" -lt 11 ]; then
      export npm_config_nodedir="${npm_config_nodedir:-$prefix}"
    else
      export npm_package_config_node_gyp_nodedir="$prefix"
    fi
  fi
fi

npm ci --no-audit --no-fund --no-update-notifier

if ! node -e 'new (require("better-sqlite3"))(":memory:").close()'; then
  say 'the SQLite driver (better-sqlite3) was installed but does not load.'
  say 'Is a C++ toolchain there, and are install scripts allowed (npm config get ignore-scripts)?'
  exit 1
fi
