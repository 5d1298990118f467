#!/usr/bin/env bash
# On a machine with two GPUs: builds, verifies, and measures all_reduce beside NCCL (gpu_study.sh says where
# results go). STEPS (default: all of): conformance shared bits ablation sweep
steps=${STEPS:-conformance shared bits ablation sweep}
source "$(dirname "$0")/../gpu_study.sh"
build_targets sym all_reduce_ablation
if wants shared; then
  for pes in 3 5 7 8; do
    for algorithm in all_reduce all_gather reduce_scatter broadcast; do
      step shared 2 "$sym" run $algorithm --backend cuda --pes $pes --gpus 1 --sizes 0,1680,53760,1720320 --dtype bf16 --variant all --blocks 4 -n 0
    done
  done
fi
if wants bits; then
  step bits 8 "$sym" run all_reduce --backend cuda --pes 2 --bytes 100002 --dtype bf16 --variant all --data random --seed 7 -n 0
  step bits8 8 "$sym" run all_reduce --backend cuda --pes 8 --gpus 1 --bytes 100002 --dtype bf16 --variant all --data random --seed 7 --blocks 4 -n 0
fi
if wants ablation; then
  step ablation 20 "$build/all_reduce_ablation"
  cp /tmp/ablation.log "$out/ablation.txt"
fi
if wants sweep; then
  for variant in ${VARIANTS:-auto one_shot one_shot_read two_shot ring}; do
    step $variant 22 "$sym" run all_reduce --backend cuda --pes 2 --sizes 1K:256M --graph --baseline nccl --variant $variant --csv "$out/all_reduce_$variant.csv"
  done
fi
if wants conformance; then
  conformance one_gpu '-*TwoGpus*'
  conformance two_gpus '*TwoGpus*'
fi
exit $status
