#!/usr/bin/env bash
# How far what `auto` takes is from the best variant, in the simulator: run.sh [BUILD FOLDER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sym=${1:-$here/../../build/release}/sym
results=$here/results/choice.csv
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

# The rows of one algorithm on one machine, as "variant,bytes,us" behind `auto` or `all`.
simulate() {
  "$sym" run "$2" --backend sim --machine "$1" --variant "$3" --sizes 64K:256M:x64 --no-data \
    --network ports --csv "$rows" >/dev/null
  awk -F, -v of="$3" 'NR > 1 { print of "," $4 "," $8 "," $14 }' "$rows"
}

echo machine,algorithm,bytes,auto,auto_us,best,best_us,ratio | tee "$results"
for machine in dgx1-v100 pcie-8xa100 mi300x mi250-mesh dgx-h100 h200x2; do
  for algorithm in all_reduce all_gather reduce_scatter all_to_all; do
    { simulate "$machine" "$algorithm" all; simulate "$machine" "$algorithm" auto; } |
      awk -F, -v prefix="$machine,$algorithm" '
        $1 == "all" && (!($3 in best) || $4 < best_us[$3]) { best[$3] = $2; best_us[$3] = $4 }
        $1 == "auto" { printf "%s,%s,%s,%.1f,%s,%.1f,%.2f\n", prefix, $3, $2, $4, best[$3],
                       best_us[$3], $4 / best_us[$3] }'
  done
done | tee -a "$results"
