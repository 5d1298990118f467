#!/usr/bin/env bash
# On a machine with two GPUs: builds, calibrates, and measures the collectives, none of which the calibration has
# seen, in the blocks and pieces that follow from its numbers (gpu_study.sh says where results go). STEPS=local, with
# one GPU: what one GPU has. STEPS=simulate, anywhere: the same collectives on the calibrated machine, with SIM (a `sym`
# built with Boost.Context), and the errors.
# STEPS (default): calibrate sweep
steps=${STEPS:-calibrate sweep}
source "$(dirname "$0")/../gpu_study.sh"
collectives="all_gather reduce_scatter all_to_all broadcast all_reduce"
sizes=1K:256M

if wants calibrate || wants local || wants sweep; then build_targets sym; else sym=${SIM:-build/ci/sym}; fi
if wants local; then step local 32 "$sym" calibrate --local --out "$out/local.json" --samples "$out/local.csv"; fi
if wants calibrate; then step calibrate 32 "$sym" calibrate --out "$out/calibrated.json" --samples "$out/samples.csv"; fi
if wants sweep; then
  for name in $collectives; do
    step "$name" 4 "$sym" run "$name" --backend cuda --pes 2 --dtype bf16 --machine "$out/calibrated.json" --sizes $sizes --graph --variant all --csv "$out/$name.csv"
  done
fi
if wants simulate; then
  step errors 3 python3 experiments/calibrate/errors.py "$out/calibrated.json" "$out" "$out/errors_calibrated.csv" "" "$sym"
fi
exit "$status"
