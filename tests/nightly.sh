#!/usr/bin/env bash
# What CI has no time for: that the checker reports nothing where nothing is wrong.
#
#   tests/nightly.sh [BUILD]    BUILD: a folder with sym_conformance_tests and sym (default: build/ci)
#
# 1. The whole conformance suite under `worst`.
# 2. Its small shapes (worlds of at most 4 PEs; collectives with 2 blocks and at most 64 elements) under
#    `random` and `pct`, SEEDS (1000) seeds each.
# 3. Mutants of every algorithm: of each group at least 95 % (gemm: 94) of those that are not equivalent must be noticed.
# 4. The rule of clang-tidy that takes as long as all others together.
# 5. The sanitizers' tests with what CI's leave out: the conformance suite of check and sim, and under the thread sanitizer
#    other element types (build/asan, build/tsan; ASAN=0: not).
# 6. Each source compiled alone, with all warnings, and the CUDA code for every type and operator (build/dev, DEV=0: not).
#    CI compiles sources in batches (SYM_BATCHES), where one hides that another lacks an include, and few of a GPU's kernels
#    (SYM_QUICK_CUDA).
#
# A finding of the first two is a false alarm of the checker or a bug of the library: the output names the test, the
# number of PEs, the schedule and the seed. The same alone:
#   SYM_SCHEDULES=random SYM_SEEDS=17 SYM_MOST_PES=4 BUILD/tests/sym_conformance_tests --gtest_filter=TEST
# runs it up to seed 17. JOBS (the number of cores) shards run side by side. Exit status: 0 if silent.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/ci}/tests/sym_conformance_tests
sym=${1:-build/ci}/sym
seeds=${SEEDS:-1000}
jobs=${JOBS:-$(nproc)}
for needed in "$program" "$sym"; do
  [ -x "$needed" ] || { echo "nightly: no $needed (cmake --build BUILD)" >&2; exit 2; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# sweep NAME SCHEDULES SEEDS MOST_PES FILTER: the tests that match, in shards; prints what failed.
sweep() {
  local name=$1 began=$SECONDS status=0 shard pids=()
  for ((shard = 0; shard < jobs; ++shard)); do
    SYM_SCHEDULES=$2 SYM_SEEDS=$3 SYM_MOST_PES=$4 GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$shard \
      nice -n 10 "$program" --gtest_filter="$5" --gtest_brief=1 >"$scratch/$name.$shard" 2>&1 &
    pids+=($!)
  done
  for shard in "${!pids[@]}"; do
    wait "${pids[$shard]}" || { status=1; cat "$scratch/$name.$shard"; }
  done
  printf '%-8s %s, %d s\n' "$name" "$([ $status = 0 ] && echo silent || echo FINDINGS)" "$((SECONDS - began))"
  return $status
}

# Of these the sizes, not the schedules, are the point: CI has them under a few seeds.
large='*bf16_every_schedule*:*weighted_sum*:*warps_*:*all_reduce_bf16*'
failed=0
sweep worst worst 1 4096 '*OnCheck*' || failed=1
sweep random random "$seeds" 4 "*OnCheck*-$large" || failed=1
sweep pct pct "$seeds" 4 "*OnCheck*-$large" || failed=1
for algorithm in all_reduce all_gather reduce_scatter broadcast all_to_all all_to_all_v moe_dispatch_combine all_reduce_rms_norm tile_reduce gemm; do
  least=95
  [ "$algorithm" = gemm ] && least=94  # two of its 36 waits survive: experiments/mutation/README.md says why
  "$sym" mutate "$algorithm" --min-score "$least" --proof-seconds 10 >"$scratch/mutants" || { failed=1; cat "$scratch/mutants"; }
done
SYM_TIDY_CHECKS=performance-unnecessary-value-param tests/tidy/tidy.sh "${1:-build/ci}" || [ $? = 77 ] || failed=1
if [ "${ASAN:-1}" != 0 ]; then
  for preset in asan tsan; do
    log=$scratch/$preset
    cmake --preset $preset -DSYM_NIGHTLY=ON >"$log" 2>&1 && cmake --build --preset $preset >>"$log" 2>&1 &&
      ctest --preset $preset >>"$log" 2>&1 || { failed=1; tail -n 40 "$log"; }
  done
fi
if [ "${DEV:-1}" != 0 ]; then
  cmake --preset dev >"$scratch/dev" 2>&1 && cmake --build --preset dev -- -k 0 >>"$scratch/dev" 2>&1 ||
    { failed=1; grep -aE 'error|FAILED' "$scratch/dev" | head -n 40; }
fi
exit $failed
