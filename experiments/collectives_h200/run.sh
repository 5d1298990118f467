#!/usr/bin/env bash
# On a machine with two GPUs: builds, verifies, and measures every shipped collective beside NCCL, twice, and what
# more or fewer blocks take (gpu_study.sh says where results go). STEPS=simulate, anywhere: the same on the
# simulator, with SIM (a `sym` built with Boost.Context), and the errors. STEPS (default): conformance sweep blocks
steps=${STEPS:-conformance sweep blocks}
source "$(dirname "$0")/../gpu_study.sh"
collectives="all_gather reduce_scatter all_to_all broadcast all_reduce"
sizes=1K:256M
append() { awk 'FNR > 1 || !seen++' "$@" >"$out/.all" && mv "$out/.all" "$1"; } # append ALL PART: one head
block_sweep() { # block_sweep ALL.csv OPTION...: collectives that send no packets, with more and with fewer blocks
  local all=$1 name blocks
  shift
  rm -f "$all"
  for blocks in 8 16 32 64 128; do
    for name in all_gather reduce_scatter all_to_all; do
      step "blocks_$name" 5 "$sym" run "$name" "$@" --pes 2 --variant direct --dtype bf16 --sizes 64K,1M,16M,256M --blocks "$blocks" --csv "$out/.part"
      if [ -f "$all" ]; then append "$all" "$out/.part"; else cp "$out/.part" "$all"; fi
    done
  done
  rm -f "$out/.part"
}

if wants conformance || wants sweep || wants blocks; then build_targets sym; else sym=${SIM:-build/ci/sym}; fi
CONFORMANCE_S=${CONFORMANCE_S:-500}
if wants conformance; then conformance two_gpus '*TwoGpus*'; fi
if wants sweep; then
  for again in "" _again; do
    for name in $collectives; do
      step "$name" 4 "$sym" run "$name" --backend cuda --pes 2 --dtype bf16 --sizes $sizes --graph --baseline nccl --variant all --csv "$out/$name$again.csv"
    done
  done
fi
if wants blocks; then block_sweep "$out/blocks.csv" --backend cuda --graph; fi
if wants simulate; then
  for name in $collectives; do
    step "sim_$name" 4 "$sym" run "$name" --backend sim --machine h200x2 --no-data --dtype bf16 --sizes $sizes --variant all --csv "$out/sim_$name.csv"
    step "compare_$name" 5 "$sym" compare "$out/$name.csv" "$out/sim_$name.csv"
    cp "/tmp/compare_$name.log" "$out/compare_$name.txt"
  done
  block_sweep "$out/sim_blocks.csv" --backend sim --machine h200x2 --no-data
fi
exit "$status"
