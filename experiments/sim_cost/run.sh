#!/usr/bin/env bash
# Measures what simulated runs cost and plots it: run.sh [BUILD FOLDER]. Needs gnuplot for the plot.
# Each line is measured three times, in turn with the others, so that what else the machine does
# meets all of them; what is kept is the run in the middle by processor time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
[ $# -gt 0 ] || cmake --build "$build" --target sim_cost plain_simgrid
results=$here/results
mkdir -p "$results"

# Runs the lines of stdin (program and arguments) and writes CSV into $1.
measure() {
  local lines line index
  mapfile -t lines
  echo program,network,pes,flows,simulated_us,cpu_s,cpu_us_per_flow,peak_mib >"$1"
  for _ in 1 2 3; do
    for index in "${!lines[@]}"; do
      read -ra line <<<"${lines[index]}"
      echo "$index,$("$build/${line[0]}" "${line[@]:1}")"
    done
  done | tee /dev/stderr | sort -t, -k1,1n -k7,7g | awk 'NR % 3 == 2' | cut -d, -f2- >>"$1"
}

for pes in 16 64 128 256 400; do
  echo "sim_cost exchange ports $pes"
  echo "sim_cost exchange simgrid $pes"
  echo "plain_simgrid $pes 1e6"
done | measure "$results/per_flow.csv"

{
  for nodes in 1 2 4 8 16 32 64 128 256 512 1024 2048; do echo "sim_cost rails ports $nodes"; done
  for nodes in 2 4 8 16 32 64 128; do
    echo "sim_cost rails simgrid $nodes"
    echo "sim_cost two_hop ports $nodes"
    echo "sim_cost two_hop simgrid $nodes"
    echo "sim_cost direct ports $nodes"
  done
} | measure "$results/growth.csv"

gnuplot -e "results='$results'" "$here/plot.gp"
