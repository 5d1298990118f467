#!/usr/bin/env bash
# On a machine with two GPUs, with a `sym` that is built: small collectives by packets, every variant beside NCCL, and
# what more or fewer blocks and threads take.
#
#   SYM=build/release/sym OUT=results experiments/collectives/small.sh     STEPS="floor rows early grid" (default: all)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sym=${SYM:-build/release/sym}
out=${OUT:-$here/results}
steps=${STEPS:-floor rows early grid}
mkdir -p "$out"
export NCCL_NVLS_ENABLE=0
wants() { case " $steps " in *" $1 "*) return 0 ;; *) return 1 ;; esac }

# run CSV OPTION...: sym run on the GPUs; its rows, without the comments, go to the terminal and to CSV
run() {
  local csv=$1
  shift
  timeout 100 "$sym" run "$@" --backend cuda --pes 2 --dtype bf16 --graph --csv "$out/$csv.csv" >"/tmp/$csv.log" 2>&1
  local rc=$?
  [ $rc = 0 ] || { echo "== rc $rc: $*"; tail -5 "/tmp/$csv.log" | cut -c1-300; }
  echo "-- $SECONDS s: $*"
  grep -v '^#' "/tmp/$csv.log" | cut -c1-140
}

if wants floor && [ -x "${FLOOR:-$here/floor}" ]; then timeout 60 "${FLOOR:-$here/floor}" | tee "$out/floor.txt"; fi
if wants rows; then
  for name in all_reduce all_gather reduce_scatter all_to_all broadcast; do
    run "small_$name" "$name" --sizes 1K,4K,16K,64K,256K,1M,4M --variant one_shot --baseline nccl
  done
fi
if wants early; then # launches that begin while the one before them runs
  for name in all_reduce all_gather; do
    run "early_$name" "$name" --sizes 1K,4K,16K,64K,256K,1M,4M --variant one_shot
    run "early_direct_$name" "$name" --sizes 1K,16K,256K --variant all
  done
fi
if wants grid; then
  for grid in 1x64 1x128 1x256 1x512 2x64 4x128 8x128 16x64 16x128 32x64 32x128 32x256 32x512 64x128 64x256 64x512 128x128 128x256 128x512; do
    run "grid_all_reduce_$grid" all_reduce --sizes 1K,4K,16K,64K,256K,1M,4M --variant one_shot --blocks "${grid%x*}" --threads "${grid#*x}"
  done
  for name in all_gather reduce_scatter all_to_all; do
    for grid in 1x64 4x128 16x128 32x256 64x256 128x512; do
      run "grid_${name}_$grid" "$name" --sizes 1K,16K,64K,256K,1M --variant one_shot --blocks "${grid%x*}" --threads "${grid#*x}"
    done
  done
fi
