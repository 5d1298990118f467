#!/usr/bin/env bash
# On a machine with two GPUs: builds, verifies, and measures the rows of README.md's table, each beside NCCL's best in
# the same run, the copy engine's own rate, and PyTorch's one-shot all-reduce where PyTorch is installed. Results:
# ${OUT:-results}. STEPS (default): conformance rates sweep torch table. BUILD: a folder that is built in already.
steps=${STEPS:-conformance rates sweep torch table}
source "$(dirname "$0")/../gpu_study.sh"
here=experiments/collectives
common=(--backend cuda --pes 2 --dtype bf16 --graph --baseline nccl)
measure() { # measure FILE ALGORITHM SIZES VARIANT [OPTION...]: one call of the command, one file
  local file=$1 algorithm=$2 sizes=$3 variant=$4
  shift 4
  step "$file" 6 "$sym" run "$algorithm" "${common[@]}" --sizes "$sizes" --variant "$variant" "$@" --csv "$out/$file.csv"
}

if [ "${steps/table/}" != "$steps" ] && [ "$steps" = table ]; then :; else build_targets sym copy_rate turns; fi
if wants conformance; then conformance two_gpus '*TwoGpus*:-*DistributedGemm*'; fi
if wants rates; then
  step copy_rate 8 "$build/copy_rate"
  cp /tmp/copy_rate.log "$out/copy_rate.csv"
  step turns 20 "$build/turns"
  cp /tmp/turns.log "$out/turns.csv"
fi
if wants sweep; then
  for name in all_reduce all_gather reduce_scatter all_to_all broadcast; do
    measure "${name}_auto" $name 1K:256M:x4 auto
    measure "${name}_all" $name 1M,16M,64M,256M all --iterations 1
  done
  measure all_reduce_two_shot all_reduce 64M,256M two_shot --iterations 1
fi
if wants torch; then
  if python3 -c 'import torch' 2>/dev/null; then
    step torch 8 python3 -m torch.distributed.run --nproc_per_node 2 $here/torch_one_shot.py --csv "$out/torch.csv"
  else
    echo "== no PyTorch here: its row stays empty"
  fi
fi
if wants table; then
  python3 $here/table.py "$out" | tee "$out/table.md"
  if command -v gnuplot >/dev/null; then gnuplot -e "results='$out'" $here/plot.gp; else echo "== no gnuplot: no plot"; fi
fi
exit "$status"
