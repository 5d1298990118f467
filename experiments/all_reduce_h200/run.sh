#!/usr/bin/env bash
# On a machine with two GPUs: builds, verifies, and measures all_reduce beside NCCL. Results go to
# ${OUT:-experiments/all_reduce_h200/results}; header-only dependencies may lie in .deps/include.
# STEPS (default: all): smoke sweep shared bits
set -uo pipefail
cd "$(dirname "$0")/../.."
out=${OUT:-experiments/all_reduce_h200/results}
build=${BUILD:-/tmp/sym-h200}
steps=" ${STEPS:-smoke sweep shared bits} "
mkdir -p "$out"
deps=()
if [ -d .deps/include ]; then deps=(-DSYM_DEPS_INCLUDE="$PWD/.deps/include"); fi
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSYM_CUDA=ON -DBUILD_TESTING=OFF "${deps[@]}" > /tmp/configure.log 2>&1 || { tail -40 /tmp/configure.log; exit 1; }
cmake --build "$build" --target sym cuda_smoke > /tmp/build.log 2>&1 || { grep -E "error" /tmp/build.log | head -40; tail -20 /tmp/build.log; exit 1; }
echo "built in $SECONDS s; $("$build/sym" --version)"
sym=$build/sym
smoke=$(find "$build" -name cuda_smoke -type f | head -1)
status=0
step() {  # step NAME LINES COMMAND...: runs it, shows the end of what it said
  local log=/tmp/$1.log lines=$2
  shift 2
  timeout 200 "$@" > "$log" 2>&1
  local rc=$?
  echo "== rc $rc: ${*##*/}"
  tail -"$lines" "$log" | cut -c1-175
  [ $rc = 0 ] || status=1
}
case $steps in *" smoke "*)
  step smoke1 2 "$smoke" --pes 2 --gpus 1 --no-times
  step smoke2 12 "$smoke" --pes 2 --gpus 2 ;;
esac
case $steps in *" shared "*)
  for pes in 3 5 7 8; do
    for algorithm in all_reduce all_gather reduce_scatter broadcast; do
      step shared 30 "$sym" run $algorithm --backend cuda --pes $pes --gpus 1 --sizes 0,1680,53760,1720320 --dtype bf16 --variant all --blocks 4 -n 0
    done
  done ;;
esac
case $steps in *" bits "*)
  step bits 8 "$sym" run all_reduce --backend cuda --pes 2 --bytes 100002 --dtype bf16 --variant all --data random --seed 7 -n 0
  step bits8 8 "$sym" run all_reduce --backend cuda --pes 8 --gpus 1 --bytes 100002 --dtype bf16 --variant all --data random --seed 7 --blocks 4 -n 0 ;;
esac
case $steps in *" sweep "*)
  for variant in ${VARIANTS:-one_shot one_shot_read two_shot ring}; do
    step $variant 22 "$sym" run all_reduce --backend cuda --pes 2 --sizes 1K:256M --graph --baseline nccl --variant $variant --csv "$out/all_reduce_$variant.csv"
  done ;;
esac
exit $status
