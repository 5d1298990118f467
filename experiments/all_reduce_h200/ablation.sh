#!/usr/bin/env bash
# Two GPUs: times kernels that leave one part of a small all-reduce out. FLAGS: one build for each word.
set -uo pipefail
cd "$(dirname "$0")/../.."
out=${OUT:-experiments/all_reduce_h200/results}
objects=/tmp/sym-ablation
sh backends/cuda/smoke_build.sh "$objects" > "$out/ablation_build.log" 2>&1 || { tail -20 "$out/ablation_build.log"; exit 1; }
rm -f "$objects/smoke.cu.o"
nccl=$(python3 -c 'import nvidia.nccl as n; print(list(n.__path__)[0])')
for flags in ${FLAGS:--DSYM_POLL=0}; do
  (name=ablation_$(echo "$flags" | tr -dc 'A-Za-z0-9')
   nvcc -std=c++20 -arch=sm_90 -fmad=false --expt-relaxed-constexpr -O3 -I. ${flags//,/ } experiments/all_reduce_h200/ablation.cu "$objects"/*.o \
     -isystem "$nccl/include" -Xlinker "$nccl/lib/libnccl.so.2" -Xlinker -rpath -Xlinker "$nccl/lib" -ldl -lpthread -o "$objects/$name" || echo "FAILED $flags") &
done
wait
for flags in ${FLAGS:--DSYM_POLL=0}; do
  name=ablation_$(echo "$flags" | tr -dc 'A-Za-z0-9')
  echo "$flags"; timeout 60 "$objects/$name" 2>&1 | tee "$out/$name.txt"
done
