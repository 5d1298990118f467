#!/usr/bin/env bash
# Measures what the checker costs: run.sh [BUILD FOLDER]. Needs Google Benchmark.
#   results/bench.csv     the programs of check_bench.cpp under `fifo`, without (0) and with (1) race detection
#   results/commands.csv  whole commands: seconds of processor time, the peak of memory, verbs and accesses
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
[ $# -gt 0 ] || cmake --build "$build" --target sym check_bench
results=$here/results
mkdir -p "$results"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

bench=$(find "$build" -name check_bench -type f | head -n 1)
"$bench" --benchmark_format=csv 2>/dev/null | sed -n '/^name,/,$p' | tee "$results/bench.csv"

# command OPTIONS...: one row. The times are those of the whole process.
command() {
  local TIMEFORMAT='%U %S'
  { time "$build/sym" run "$@" --backend check >"$scratch/out"; } 2>"$scratch/time" || { cat "$scratch/out"; exit 1; }
  local seconds accesses
  seconds=$(awk 'NF == 2 {print $1 + $2}' "$scratch/time" | tail -n 1)
  accesses=$(sed -n 's/.* \([0-9]*\) accesses (\([0-9.]*\) MiB).*/\1,\2/p' "$scratch/out")
  awk -v what="$*" -v s="$seconds" -v a="$accesses" \
    'BEGIN {split(a, part, ","); printf "%s,%s,%s,%.2f,%s\n", what, s, part[1], 1e6 * s / part[1], part[2]}'
}
echo "command,cpu_s,accesses,us_per_access,detector_mib" >"$results/commands.csv"
{
  for algorithm in all_reduce all_gather reduce_scatter broadcast all_to_all; do
    command $algorithm --pes 8 --blocks 8 --bytes 1M --iterations 3 --variant all
  done
  command all_to_all_v --pes 8 --blocks 8 --iterations 3
  command moe_dispatch_combine --pes 8 --blocks 8 --iterations 3
  command all_reduce --pes 64 --blocks 32 --bytes 64K --variant two_shot --iterations 1
  command all_reduce --pes 4 --variant ring --schedule pct --runs 1000
} | tee -a "$results/commands.csv"
