#!/usr/bin/env bash
# On a machine with two GPUs, with a `sym` (and beside it norm_ablation) that is built: fused norms beside NCCL's
# all-reduce with one kernel behind it, and tiles beside reduce_scatter.
#
#   SYM=build/release/sym OUT=results experiments/collectives/fused.sh
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sym=${SYM:-build/release/sym}
out=${OUT:-$here/results}
mkdir -p "$out"
export NCCL_NVLS_ENABLE=0

# run CSV OPTION...: sym run on the GPUs; its rows go to the terminal and to CSV
run() {
  local csv=$1
  shift
  timeout 60 "$sym" run "$@" --backend cuda --pes 2 --dtype bf16 --graph --baseline nccl --csv "$out/fused_$csv.csv" 2>&1 |
    grep -v '^#' | cut -c1-180
}
norm=(all_reduce_rms_norm --residual --variant one_shot)
run norm_1024 "${norm[@]}" --hidden 1024 --tokens 4,16,32,64,128
run norm_4096 "${norm[@]}" --hidden 4096 --tokens 1,2,4,8,16,32
run norm_7168 "${norm[@]}" --hidden 7168 --tokens 1,4,16
run norm_16384 "${norm[@]}" --hidden 16384 --tokens 1,8
run two_shot all_reduce_rms_norm --residual --variant all --hidden 4096 --tokens 128,1024
run tile tile_reduce --rows 4096 --cols 4096 --tile 2048x2048,128x128
run scatter reduce_scatter --sizes 32M --variant all
timeout 60 "$(dirname "$sym")/norm_ablation" | tee "$out/fused_parts.txt"
