#!/usr/bin/env bash
# What experiments/ground_truth says of its files is what this build computes: medians that drift are seen.
source "$(dirname "$0")/common.bash"
study=$SYM_SOURCE_DIR/experiments/ground_truth
[ -d "${SYM_SHARED_DIR:-$SYM_SOURCE_DIR/../shared}/ground-truth" ] || exit 77
OUT=$PWD EXPLAIN=no PLOT=no try 0 "$study/run.sh"
rows=0
while IFS=, read -r name _ _ _ _ _ median worst _; do
  [ "$name" != name ] || continue
  now=$(awk -F, -v name="$name" '$1 == name { print $7 "," $8 }' summary.csv)
  [ -n "$now" ] || { grep -q "^$name: skipped" out || fail "$name is not in the study"; continue; }
  rows=$((rows + 1))
  awk -v a="$median,$worst" -v b="$now" 'BEGIN { split(a, was, ","); split(b, is, ",")
    for (i = 1; i <= 2; ++i) { d = was[i] - is[i]; if (d > 0.15 || d < -0.15) exit 1 } }' ||
    fail "$name: median and worst are $now %, the results say $median,$worst %"
  grep -q "^| $name |.*| $median | $worst |" "$study/README.md" || fail "$name: README.md does not say $median and $worst %"
done <"$study/results/summary.csv"

# A file that is not there is skipped by name, and one without its columns is refused.
truth=${SYM_SHARED_DIR:-$SYM_SOURCE_DIR/../shared}/ground-truth
mkdir -p few/ground-truth part
cp "$truth"/allgather_b200_1node_8gpu.csv few/ground-truth
SYM_SHARED_DIR=few OUT=part EXPLAIN=no PLOT=no try 0 "$study/run.sh"
says "b200-2node-ag: skipped, no few/ground-truth/allgather_b200_2node_16gpu_ib400.csv"
says "1 of $(grep -c '^[^#]' "$study/files.txt") files compared; skipped: h100-1node "
[ "$(grep -c ': skipped, no few/' out)" = "$(($(grep -c '^[^#]' "$study/files.txt") - 1))" ] || fail "not every name is skipped in words"
sed -i 's/ip_time_us/ip_usec/' few/ground-truth/allgather_b200_1node_8gpu.csv
SYM_SHARED_DIR=few OUT=part EXPLAIN=no PLOT=no try 1 "$study/run.sh"
says "no column ip_time_us"
[ "$rows" -gt 10 ] || fail "only $rows files were compared"
finish
