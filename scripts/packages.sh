# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Sourced by run and test. need_packages PACKAGE[=COMMAND]... installs missing packages. An existing
# COMMAND replaces its package.

missing_packages() {
  for wanted; do
    package=${wanted%%=*}
    command=${wanted#"$package"}
    if [ -n "$command" ] && command -v "${command#=}" >/dev/null; then
      continue
    fi
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=none
    if [ "$state" != installed ]; then
      printf ' %s' "$package"
    fi
  done
}

# Runs a command as root; returns 1 without a way to become root.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    sudo "$@"
  else
    return 1
  fi
}

need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "hypomnesis: not a Debian system; these packages' contents are needed: $*" >&2
    return 0
  fi
  missing=$(missing_packages "$@")
  if [ -z "$missing" ]; then
    return 0
  fi
  echo "hypomnesis: installing$missing" >&2
  # shellcheck disable=SC2086
  if as_root apt-get -qq update >&2 &&
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get -qq install --yes --no-install-recommends $missing >&2; then
    return 0
  fi
  echo "hypomnesis: cannot install; as root run: apt-get install$missing" >&2
  return 1
}
