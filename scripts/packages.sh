# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Sourced by run and test. need_packages PACKAGE[=COMMAND]... installs missing packages. A package is
# not needed if its COMMAND exists. With ask=yes it asks first, if there is a terminal. The output of apt-get
# goes to $root/build/packages.log.

list_missing_packages() {
  for requirement; do
    package=${requirement%%=*}
    command=${requirement#"$package"}
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
run_as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    sudo "$@"
  else
    return 1
  fi
}

# Prints the command that installs the build requirements of hmn on a system other than Debian.
suggest_install() {
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
confirm_install() {
  if [ "${ask:-no}" = no ] || ! [ -t 0 ] || ! [ -t 2 ]; then
    return 0
  fi
  printf 'hypomnesis: needs these packages:%s\nInstall them with apt-get? [Y/n] ' "$1" >&2
  read -r answer || answer=n
  case $answer in "" | [Yy]*) return 0 ;; *) return 1 ;; esac
}

need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    instructions=$(suggest_install)
    echo "hypomnesis: not a Debian system; it needs ${instructions:-the contents of these packages: $*}" >&2
    return 0
  fi
  missing=$(list_missing_packages "$@")
  if [ -z "$missing" ]; then
    return 0
  fi
  if ! confirm_install "$missing"; then
    echo "hypomnesis: not installed; as root run: apt-get install$missing" >&2
    return 1
  fi
  # shellcheck disable=SC2154 # of the script that sources this
  package_log=$root/build/packages.log
  mkdir -p "$root/build"
  echo "hypomnesis: installing $(echo "$missing" | wc -w) packages; the log is $package_log" >&2
  # shellcheck disable=SC2086
  if run_as_root apt-get -q update >"$package_log" 2>&1 &&
    run_as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get -q install --yes --no-install-recommends $missing >>"$package_log" 2>&1; then
    return 0
  fi
  tail -n 20 "$package_log" >&2
  echo "hypomnesis: cannot install; as root run: apt-get install$missing" >&2
  return 1
}
