# shellcheck shell=bash
# Shared by the studies on GPUs: builds, and runs steps with a line of result each. Sourced, not run.
# Results go to ${OUT:-the study's results folder}; header-only dependencies may lie in .deps/include, and
# GoogleTest's source in .deps/googletest, where a machine has no packages.
set -uo pipefail
study=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
out=${OUT:-$study/results}
build=${BUILD:-/tmp/sym-h200}
mkdir -p "$out"
status=0

wants() { case " $steps " in *" $1 "*) return 0 ;; *) return 1 ;; esac }

build_targets() { # build_targets TARGET...: in Release, with CUDA; tests only if a step wants them
  local flags=(-DBUILD_TESTING=OFF)
  if wants conformance; then
    flags=(-DBUILD_TESTING=ON)
    set -- "$@" sym_conformance_gpu_tests
    if [ -d .deps/googletest ]; then flags+=(-DSYM_GTEST_SOURCE="$PWD/.deps/googletest"); fi
  fi
  if [ -d .deps/include ]; then flags+=(-DSYM_DEPS_INCLUDE="$PWD/.deps/include"); fi
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSYM_CUDA=ON "${flags[@]}" >/tmp/configure.log 2>&1 ||
    { tail -40 /tmp/configure.log; exit 1; }
  cmake --build "$build" --target "$@" >/tmp/build.log 2>&1 ||
    { grep -E "error" /tmp/build.log | head -40; tail -20 /tmp/build.log; exit 1; }
  echo "built in $SECONDS s"
  sym=$build/sym
}

step() { # step NAME LINES COMMAND...: runs it, shows the end of what it said
  local log=/tmp/$1.log lines=$2 rc
  shift 2
  timeout "${STEP_S:-200}" "$@" >"$log" 2>&1
  rc=$?
  echo "== rc $rc, $SECONDS s: ${*##*/}"
  tail -"$lines" "$log" | cut -c1-220
  [ $rc = 0 ] || status=1
}

conformance() { # conformance NAME FILTER
  local tests rc
  tests=$(find "$build" -name sym_conformance_gpu_tests -type f | head -1)
  timeout "${CONFORMANCE_S:-200}" env SYM_WAIT_MS=3000 "$tests" --gtest_filter="$2" >"/tmp/$1.log" 2>&1
  rc=$?
  echo "== rc $rc, $SECONDS s: conformance $1"
  [ $rc = 0 ] || { status=1; grep -E "Failure|exception|FAILED|Error|expected" "/tmp/$1.log" | sort | uniq -c | sort -rn | head -"${LINES_MOST:-14}" | cut -c1-500; tail -3 "/tmp/$1.log" | cut -c1-300; }
  grep -E "SKIPPED \]|PASSED|tests ran" "/tmp/$1.log" | sort | uniq -c | head -8
}
