# SPDX-License-Identifier: Apache-2.0
# What ./dev, ./test and ./demo share. Source it from the root of the tree, under set -euo pipefail.

jobs=$(nproc)

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# configure PRESET: once, and when a preset changes; ninja runs CMake again by itself when a
# CMakeLists.txt does.
configure() {
  local preset=$1
  [[ build/$preset/build.ninja -nt CMakePresets.json ]] && return
  local -a options=()
  if command -v ccache >/dev/null; then
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  mkdir -p "build/$preset"
  if ! cmake --preset "$preset" "${options[@]}" >"build/$preset/configure.log" 2>&1; then
    cat "build/$preset/configure.log" >&2
    rm -f "build/$preset/build.ninja"
    fail "configuring build/$preset failed (see above); tools/install-deps installs what is needed"
  fi
}

# build PRESET [TARGET…]: quiet unless something is wrong.
build() {
  local preset=$1
  shift
  configure "$preset"
  NINJA_STATUS="[$preset %f/%t] " ninja -C "build/$preset" -j "$jobs" --quiet "$@"
}

# need FILE WHAT: a step whose subject is missing fails loudly instead of passing in silence.
need() {
  [[ -e $1 ]] || fail "$1 is missing: $2"
}
