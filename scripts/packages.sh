# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Sourced by run and test. need_packages PACKAGE[=COMMAND]... installs missing packages. An existing
# COMMAND replaces its package. With ask=yes it asks first, if there is a terminal to ask on. What apt-get
# prints goes to $root/build/packages.log.

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

# Prints how the system installs what builds hmn, if it is none of Debian's.
other_install() {
  if command -v dnf >/dev/null; then
    echo "dnf install gcc-c++ cmake ninja-build fmt-devel cli11-devel ncurses-devel" \
      "libmicrohttpd-devel gnutls-devel yaml-cpp-devel libxcrypt-devel zlib-devel"
  elif command -v pacman >/dev/null; then
    echo "pacman -S gcc cmake ninja fmt cli11 ncurses libmicrohttpd gnutls yaml-cpp libxcrypt zlib"
  elif command -v apk >/dev/null; then
    echo "apk add g++ cmake samurai fmt-dev cli11-dev ncurses-dev ncurses-static" \
      "libmicrohttpd-dev gnutls-dev yaml-cpp-dev zlib-dev"
  elif command -v brew >/dev/null; then
    echo "brew install cmake ninja fmt cli11 libmicrohttpd gnutls yaml-cpp zlib"
  fi
}

# Asks whether to install; yes without a terminal, where nobody can answer.
may_install() {
  if [ "${ask:-no}" = no ] || ! [ -t 0 ] || ! [ -t 2 ]; then
    return 0
  fi
  printf 'hypomnesis: needs these packages:%s\nInstall them with apt-get? [Y/n] ' "$1" >&2
  read -r answer || answer=n
  case $answer in "" | [Yy]*) return 0 ;; *) return 1 ;; esac
}

need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    known=$(other_install)
    echo "hypomnesis: not a Debian system; needed are ${known:-the contents of these packages: $*}" >&2
    return 0
  fi
  missing=$(missing_packages "$@")
  if [ -z "$missing" ]; then
    return 0
  fi
  if ! may_install "$missing"; then
    echo "hypomnesis: not installed; as root run: apt-get install$missing" >&2
    return 1
  fi
  # shellcheck disable=SC2154 # of the script that sources this
  installed=$root/build/packages.log
  mkdir -p "$root/build"
  echo "hypomnesis: installing $(echo "$missing" | wc -w) packages; the log is $installed" >&2
  # shellcheck disable=SC2086
  if as_root apt-get -q update >"$installed" 2>&1 &&
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get -q install --yes --no-install-recommends $missing >>"$installed" 2>&1; then
    return 0
  fi
  tail -n 20 "$installed" >&2
  echo "hypomnesis: cannot install; as root run: apt-get install$missing" >&2
  return 1
}
