# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh
# Sourced by unpack-debs, cross-cmocka and vm. make_private_apt FOLDER ARCHITECTURE deb|deb-src
# COMPONENTS [SUITE] defines private_apt, an apt-get with a folder of its own, and
# private_apt_cache: the machine's sources, package lists and architectures stay unchanged.

make_private_apt() {
  # shellcheck source=/dev/null
  . /etc/os-release
  if [ "${ID:-}" != debian ]; then
    echo "private_apt: ${ID:-this system} is not Debian" >&2
    exit 1
  fi
  mkdir -p "$1/lists/partial" "$1/archives/partial" "$1/parts"
  apt=$(cd "$1" && pwd)
  apt_architecture=$2
  echo "$3 http://deb.debian.org/debian ${5:-${VERSION_CODENAME:-stable}} $4" >"$apt/sources.list"
  : >"$apt/status"
}

private_apt() {
  run_with_private_apt apt-get -qq "$@"
}

private_apt_cache() {
  run_with_private_apt apt-cache "$@"
}

run_with_private_apt() {
  program=$1
  shift
  "$program" \
    -o APT::Architecture="$apt_architecture" -o APT::Architectures::="$apt_architecture" \
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none \
    -o Acquire::Retries=2 -o Acquire::http::Timeout=30 \
    -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts="$apt/parts" \
    -o Dir::State::Lists="$apt/lists" -o Dir::State::status="$apt/status" \
    -o Dir::Cache="$apt" -o Dir::Cache::archives="$apt/archives" "$@"
}
