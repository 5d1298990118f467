#!/usr/bin/env bash
# On a machine with two GPUs: builds, verifies, and measures distributed GEMM beside NCCL and the unsplit product
# (gpu_study.sh says where results go). STEPS (default: all of): conformance shapes
steps=${STEPS:-conformance shapes}
source "$(dirname "$0")/../gpu_study.sh"
build_targets sym
gemm() { step gemm 5 "$sym" run gemm --backend cuda --pes 2 --graph --baseline nccl "$@"; }
if wants shapes; then
  gemm --schedule ag_a,rs_a --m 16384 --n 106496 --k 16384 --csv "$out/gemm_405b.csv"
  gemm --schedule ag_a,rs_a,cannon --m 8192 --n 57344 --k 8192 --csv "$out/gemm_70b.csv"
fi
if wants conformance; then
  conformance one_gpu '*Queue*OneGpu*:*Gemm*OneGpu*'
  conformance two_gpus '*Queue*TwoGpus*:*Gemm*TwoGpus*'
fi
exit $status
