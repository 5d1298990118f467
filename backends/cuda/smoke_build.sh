#!/bin/sh
# Builds backends/cuda's smoke test with nvcc alone: smoke_build.sh [output folder, default /tmp/sym-smoke]
# Finds NCCL beside the toolkit or in a Python package (whose library has no plain .so name).
set -eu
cd "$(dirname "$0")/../.."
out=${1:-/tmp/sym-smoke}
mkdir -p "$out"
arch=${SYM_ARCH:-sm_90}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
nccl_include=
for python in python3 /opt/torch/.venv/bin/python3; do
  folder=$($python -c 'import nvidia.nccl as n; print(list(n.__path__)[0])' 2>/dev/null || true)
  [ -n "$folder" ] && [ -f "$folder/include/nccl_device.h" ] || continue
  nccl_include=$folder/include
  nccl_library=$(ls "$folder"/lib/libnccl.so.2* | head -1)
  break
done
if [ -z "$nccl_include" ]; then
  for folder in "$cuda" /usr /usr/local; do
    [ -f "$folder/include/nccl_device.h" ] || continue
    nccl_include=$folder/include
    nccl_library=$(ls "$folder"/lib/libnccl.so.2 "$folder"/lib64/libnccl.so.2 "$folder"/lib/*-linux-gnu/libnccl.so.2 2>/dev/null | head -1)
    break
  done
fi
[ -n "$nccl_include" ] && [ -n "$nccl_library" ] || { echo "smoke_build: no NCCL 2.28 headers found" >&2; exit 3; }
echo "nvcc: $nvcc; NCCL: $nccl_library"
# No contraction, as everywhere. Warnings are no errors here: this must build with any host compiler.
flags="-std=c++20 -arch=$arch -O3 -fmad=false --expt-relaxed-constexpr -I. -isystem $nccl_include"
host="-Xcompiler -Wall,-Wextra,-ffp-contract=off"
objects=
pids=
build() {
  source=$1; object=$out/$(basename "$1").o; shift
  objects="$objects $object"
  "$nvcc" $flags "$@" -c "$source" -o "$object" &
  pids="$pids $!"
  # One at a time unless the machine has many cores.
  if [ "$(nproc)" -lt 8 ]; then wait $! || { grep -v 'ptxas info' "$out/ptxas.txt" >&2; exit 1; }; pids=; fi
}
build backends/cuda/smoke.cu -Xptxas -v 2>"$out/ptxas.txt"
build backends/cuda/nccl_heap.cu
for name in heap failure cuda_world sub_allocator socket_bootstrap thread_bootstrap placement spawn probe runner nccl_baseline; do
  build backends/cuda/$name.cpp $host
done
build core/bootstrap.cpp $host
for pid in $pids; do wait "$pid" || { cat "$out/ptxas.txt" | grep -v 'ptxas info' >&2; exit 1; }; done
"$nvcc" -arch=$arch $objects -Xlinker "$nccl_library" -Xlinker -rpath -Xlinker "$(dirname "$nccl_library")" -ldl -lpthread -o "$out/smoke"
echo "built $out/smoke"
