#!/usr/bin/env bash
# On a machine with two GPUs: builds, verifies, and measures all_reduce beside NCCL. Results go to
# ${OUT:-experiments/all_reduce_h200/results}; header-only dependencies may lie in .deps/include, and
# GoogleTest's source in .deps/googletest.
# STEPS (default: all of): conformance shared bits ablation sweep
set -uo pipefail
cd "$(dirname "$0")/../.."
out=${OUT:-experiments/all_reduce_h200/results}
build=${BUILD:-/tmp/sym-h200}
steps=" ${STEPS:-conformance shared bits ablation sweep} "
mkdir -p "$out"
flags=(-DBUILD_TESTING=OFF)
targets=(sym all_reduce_ablation)
case $steps in *" conformance "*)
  flags=(-DBUILD_TESTING=ON)
  targets+=(sym_conformance_gpu_tests)
  if [ -d .deps/googletest ]; then flags+=(-DSYM_GTEST_SOURCE="$PWD/.deps/googletest"); fi ;;
esac
if [ -d .deps/include ]; then flags+=(-DSYM_DEPS_INCLUDE="$PWD/.deps/include"); fi
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSYM_CUDA=ON "${flags[@]}" >/tmp/configure.log 2>&1 ||
  { tail -40 /tmp/configure.log; exit 1; }
cmake --build "$build" --target "${targets[@]}" >/tmp/build.log 2>&1 ||
  { grep -E "error" /tmp/build.log | head -40; tail -20 /tmp/build.log; exit 1; }
echo "built in $SECONDS s; $("$build/sym" --version)"
sym=$build/sym
status=0
step() { # step NAME LINES COMMAND...: runs it, shows the end of what it said
  local log=/tmp/$1.log lines=$2
  shift 2
  timeout 200 "$@" >"$log" 2>&1
  local rc=$?
  echo "== rc $rc: ${*##*/}"
  tail -"$lines" "$log" | cut -c1-175
  [ $rc = 0 ] || status=1
}
# All that share one GPU in one process; then those of two processes on two GPUs.
conformance() {
  local name=$1 filter=$2
  timeout "${CONFORMANCE_S:-200}" env SYM_WAIT_MS=3000 "$tests" --gtest_filter="$filter" >"/tmp/$name.log" 2>&1
  local rc=$?
  echo "== rc $rc: conformance $name"
  [ $rc = 0 ] || { status=1; grep -E "Failure|exception|FAILED|Error" "/tmp/$name.log" | head -12 | cut -c1-600; }
  grep -E "SKIPPED \]|PASSED|tests ran" "/tmp/$name.log" | sort | uniq -c | head -8
}
case $steps in *" shared "*)
  for pes in 3 5 7 8; do
    for algorithm in all_reduce all_gather reduce_scatter broadcast; do
      step shared 2 "$sym" run $algorithm --backend cuda --pes $pes --gpus 1 --sizes 0,1680,53760,1720320 --dtype bf16 --variant all --blocks 4 -n 0
    done
  done ;;
esac
case $steps in *" bits "*)
  step bits 8 "$sym" run all_reduce --backend cuda --pes 2 --bytes 100002 --dtype bf16 --variant all --data random --seed 7 -n 0
  step bits8 8 "$sym" run all_reduce --backend cuda --pes 8 --gpus 1 --bytes 100002 --dtype bf16 --variant all --data random --seed 7 --blocks 4 -n 0 ;;
esac
case $steps in *" ablation "*)
  step ablation 20 "$build/all_reduce_ablation"
  cp /tmp/ablation.log "$out/ablation.txt" ;;
esac
case $steps in *" sweep "*)
  for variant in ${VARIANTS:-auto one_shot one_shot_read two_shot ring}; do
    step $variant 22 "$sym" run all_reduce --backend cuda --pes 2 --sizes 1K:256M --graph --baseline nccl --variant $variant --csv "$out/all_reduce_$variant.csv"
  done ;;
esac
case $steps in *" conformance "*)
  tests=$(find "$build" -name sym_conformance_gpu_tests -type f | head -1)
  conformance one_gpu '-*TwoGpus*'
  conformance two_gpus '*TwoGpus*' ;;
esac
exit $status
