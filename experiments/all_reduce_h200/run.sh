#!/usr/bin/env bash
# On a machine with two GPUs: builds, verifies, and measures all_reduce beside NCCL. Results go to
# ${OUT:-experiments/all_reduce_h200/results}; header-only dependencies may lie in .deps/include.
set -uo pipefail
cd "$(dirname "$0")/../.."
out=${OUT:-experiments/all_reduce_h200/results}
build=${BUILD:-/tmp/sym-h200}
mkdir -p "$out"
deps=()
if [ -d .deps/include ]; then deps=(-DSYM_DEPS_INCLUDE="$PWD/.deps/include"); fi
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSYM_CUDA=ON -DBUILD_TESTING=OFF "${deps[@]}" ${EXTRA:-} > "$out/configure.log" 2>&1 || { tail -40 "$out/configure.log"; exit 1; }
cmake --build "$build" --target sym cuda_smoke > "$out/build.log" 2>&1 || { grep -E "error|Error" "$out/build.log" | head -40; tail -20 "$out/build.log"; exit 1; }
echo "built in $SECONDS s"
sym=$build/sym
smoke=$(find "$build" -name cuda_smoke -type f | head -1)
timeout 120 "$smoke" --pes 2 --gpus 1 --no-times > "$out/smoke1.log" 2>&1; echo "smoke 2 PEs on one GPU: rc $?"; tail -5 "$out/smoke1.log"
timeout 120 "$smoke" --pes 2 --gpus 2 > "$out/smoke2.log" 2>&1; echo "smoke 2 PEs on two GPUs: rc $?"; tail -15 "$out/smoke2.log"
for variant in one_shot two_shot ring; do
  timeout 200 "$sym" run all_reduce --backend cuda --pes 2 --sizes 1K:256M --graph --baseline nccl --variant $variant --csv "$out/$variant.csv" > "$out/$variant.log" 2>&1
  echo "$variant rc $?"; cut -c1-170 "$out/$variant.log" | tail -22
done
