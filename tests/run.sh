#!/usr/bin/env bash
# Everything that can be tested on this machine: packages, the `ci` workflow (configure,
# build, all tests, the tidy rules), the quickstart with that build, then the host backends under sanitizers.
#
#   tests/run.sh [--require-cuda]     --require-cuda: a build without the CUDA backend is a failure
#
# Goes on after a failed step, so that one run shows everything. Ends with one line of counts; exit
# status 0 only if nothing failed. Needs no network but the distribution's packages.
set -euo pipefail
cd "$(dirname "$0")/.."
require_cuda=${1:-}
began=$SECONDS
passed=0 failed=0 skipped=0
times=""

# step NAME COMMAND...: says what runs, and for how long it ran. Counts nothing.
step() {
  local name=$1 status=0 step_began=$SECONDS
  shift
  printf '\n==== %s: %s\n' "$name" "$*"
  "$@" || status=$?
  times+="$(printf '%6d s  %s (status %d)' "$((SECONDS - step_began))" "$name" "$status")"$'\n'
  return "$status"
}

# count STATUS: a step without tests of its own is one test.
count() {
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

check() { # check NAME COMMAND...: a step that is one test
  local status=0
  step "$@" || status=$?
  count "$status"
}

# parts FILE: passed, failed and skipped tests of the parts that a sanitizer's programs of tests run in (tests/CMakeLists.txt),
# less the parts themselves, which CTest has counted. A part that died before its last line stays one failed test.
parts() {
  awk '
    /<testcase / { part = /name="[a-z_]*\.part_[0-9]+"/; fails = /status="fail"/; if (part && !fails) passed-- }
    part && /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
    part && /^\[  SKIPPED \] [0-9]+ tests?, listed/ { skipped += $4 }
    part && /^\[  FAILED  \] [0-9]+ tests?, listed/ { failed += $4 - fails }
    END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

# workflow PRESET: configure, build, test. The tests count as CTest wrote them down; a workflow that
# fails before or beside them is one failed test more.
workflow() {
  local preset=$1 status=0 file counts tests failures skips more_passed more_failed more_skipped
  file=build/$preset/tests.xml
  rm -f "$file"
  step "$preset" cmake --workflow --preset "$preset" || status=$?
  if [ -f "$file" ]; then
    counts=$(awk '/<testsuite/ { on = 1 } on { printf "%s ", $0 } on && />/ { exit }' "$file")
    attribute() { sed -n "s/.*[^a-z]$1=\"\([0-9]*\)\".*/\1/p" <<<"$counts"; }
    tests=$(attribute tests) failures=$(attribute failures)
    skips=$(($(attribute skipped) + $(attribute disabled)))
    passed=$((passed + tests - failures - skips))
    failed=$((failed + failures))
    skipped=$((skipped + skips))
    read -r more_passed more_failed more_skipped <<<"$(parts "$file")"
    passed=$((passed + more_passed)) failed=$((failed + more_failed)) skipped=$((skipped + more_skipped))
    [ "$status" = 0 ] || [ "$failures" != 0 ] || failed=$((failed + 1))
  else
    count "$((status == 0 ? 1 : status))"
  fi
}

# What the CUDA build left: the program holds GPU code, and was linked with NCCL.
cuda_is_linked() {
  readelf -SW build/ci/sym | grep '\.nv_fatbin' >/dev/null || { echo "build/ci/sym holds no GPU code"; return 1; }
  ldd build/ci/sym | grep libnccl >/dev/null || { echo "build/ci/sym is not linked with NCCL"; return 1; }
  echo "build/ci/sym holds GPU code and is linked with NCCL"
}

step packages experiments/packages.sh build plot test
workflow ci
if grep -q '^SYM_FOUND_CUDA:INTERNAL=TRUE' build/ci/CMakeCache.txt; then
  check cuda cuda_is_linked
elif [ "$require_cuda" = --require-cuda ]; then
  echo "CUDA was required, but this build has no CUDA backend (see the table above)"
  failed=$((failed + 1))
else
  printf '\nCUDA code was NOT compiled: the table above says what is missing\n'
  skipped=$((skipped + 1))
fi
check quickstart env SYM_BUILD=build/ci experiments/quickstart.sh
workflow asan
workflow tsan

printf '\n==== Times\n%s%6d s  all\n\n' "$times" "$((SECONDS - began))"
printf 'tests: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
