#!/usr/bin/env bash
# Measures what simulated runs cost and plots it: run.sh [BUILD FOLDER]. Needs gnuplot for the plot.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
[ $# -gt 0 ] || cmake --build "$build" --target sim_cost plain_simgrid
results=$here/results
mkdir -p "$results"
header=program,network,pes,flows,simulated_us,cpu_s,cpu_us_per_flow,peak_mib

echo $header >"$results/per_flow.csv"
for pes in 16 64 128 256 400; do
  for network in ports simgrid; do "$build/sim_cost" exchange $network $pes; done
  "$build/plain_simgrid" $pes 1e6
done | tee -a "$results/per_flow.csv"

echo $header >"$results/growth.csv"
{
  for nodes in 1 2 4 8 16 32 64 128 256 512 1024 2048; do "$build/sim_cost" rails ports $nodes; done
  for nodes in 2 4 8 16 32 64 128; do
    "$build/sim_cost" rails simgrid $nodes
    "$build/sim_cost" two_hop ports $nodes
    "$build/sim_cost" two_hop simgrid $nodes
    "$build/sim_cost" direct ports $nodes
  done
} | tee -a "$results/growth.csv"

gnuplot -e "results='$results'" "$here/plot.gp"
