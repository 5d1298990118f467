#!/usr/bin/env bash
# On a machine with two GPUs: builds, verifies, and measures dispatch and combine (gpu_study.sh says where results
# go). STEPS (default: all of): conformance ablation exchange
steps=${STEPS:-conformance ablation exchange}
source "$(dirname "$0")/../gpu_study.sh"
build_targets sym moe_ablation
if wants ablation; then
  step ablation 14 "$build/moe_ablation"
  cp /tmp/ablation.log "$out/ablation.txt"
fi
moe() { step moe 9 "$sym" run moe_dispatch_combine --backend cuda --pes 2 --hidden 7168 --experts 256 --topk 8 --graph "$@"; }
if wants exchange; then
  moe --tokens 1,8,64,128,1024,4096 --csv "$out/moe.csv"
  moe --tokens 128,4096 --routing one_expert,skewed --csv "$out/moe_skew.csv"
  step a2av 8 "$sym" run all_to_all_v --backend cuda --pes 2 --tokens 128,4096,16384 --hidden 7168 --graph --splits uniform,one_peer --csv "$out/all_to_all_v.csv"
fi
if wants conformance; then
  conformance one_gpu '*Tally*OneGpu*:*Pieces*OneGpu*:*Require*OneGpu*:*Moe*OneGpu*'
  conformance two_gpus '*Tally*TwoGpus*:*Pieces*TwoGpus*:*Require*TwoGpus*:*Moe*TwoGpus*'
fi
exit $status
