#!/usr/bin/env bash
# From a fresh machine to results: installs packages, builds the command, checks an all-reduce under
# hostile delivery, runs it on real threads, simulates it on a real machine's topology, benchmarks it if
# there are GPUs, and leaves results/quickstart-<date>/ with CSV files, a plot and a one-page summary.
#
#   experiments/quickstart.sh [MACHINE]
#
# MACHINE: what to simulate (default dgx-h100): a name from `sym list`, a machine's JSON, or a file
# with what `nvidia-smi topo -m` printed. Running it again does only what is left to do, and writes
# the day's results anew. Needs no network but the distribution's packages. SYM_BUILD=DIR: with the
# command that DIR has already, as CI does after its build.
set -euo pipefail
cd "$(dirname "$0")/.."
machine=${1:-dgx-h100}
results=results/quickstart-$(date +%F)
began=$SECONDS

say() { printf '\n== %s\n' "$*"; }

count_gpus() {
  local list
  if command -v nvidia-smi >/dev/null && list=$(nvidia-smi -L 2>/dev/null); then
    awk '/^GPU / { ++n } END { print n + 0 }' <<<"$list"
  else
    echo 0
  fi
}

say "Packages"
experiments/packages.sh build plot
packages_s=$((SECONDS - began))

gpus=$(count_gpus)
cuda=OFF # its compilation takes longer than all the rest: only for a GPU that will run it
[ "$gpus" = 0 ] || cuda=AUTO

build_began=$SECONDS
sym=${SYM_BUILD:-build/release}/sym
if [ -z "${SYM_BUILD:-}" ]; then
  say "Build (build/release; CUDA $cuda, $gpus GPUs here)"
  mkdir -p build
  # Warnings are no errors here: this compiler may know some that ours do not. Batches take half of the time.
  cmake --preset release -D SYM_CUDA=$cuda -D SYM_WERROR=OFF -D SYM_BATCHES=8 -D BUILD_TESTING=OFF >build/quickstart.log ||
    { cat build/quickstart.log; exit 1; }
  sed -n '/-- Symposium/,$p' build/quickstart.log
  cmake --build --preset release --target sym
fi
build_s=$((SECONDS - build_began))

mkdir -p "$results"
rm -f "$results"/*
failed=0
table="" # of the summary

# job NAME QUESTION ARGUMENT...: one run of the command, its output in NAME.txt and NAME.csv.
job() {
  local name=$1 question=$2 status=0 job_began=$SECONDS outcome
  shift 2
  say "$question"
  echo "\$ sym run $*"
  "$sym" run "$@" --csv "$results/$name.csv" 2>&1 | tee "$results/$name.txt" || status=$?
  case $status in
    0) outcome="done" ;;
    3) outcome="not available on this machine" ;;
    *) outcome="**FAILED** (status $status)" && failed=$((failed + 1)) ;;
  esac
  table+="| $question | \`sym run $*\` | $outcome | $((SECONDS - job_began)) s | $name.csv |"$'\n'
}

# Without SimGrid the simulator's other network engine does it.
network=()
ldd "$sym" | grep -q libsimgrid || network=(--network ports)

job check-one_shot "Is one-shot right under hostile delivery?" \
  all_reduce --backend check --pes 1,2,3,5,8 --sizes 0,2,16K --dtype bf16 --variant one_shot
job check-two_shot "Is two-shot, where the worst legal order runs?" \
  all_reduce --backend check --pes 3,8 --sizes 2,16K,256K --variant two_shot --schedule worst
job thread "Does it run with real concurrency?" \
  all_reduce --backend thread --pes 4 --sizes 1K:4M
variants="one_shot two_shot ring"
for variant in $variants; do
  job "sim-$variant" "How fast would $variant be on $machine?" \
    all_reduce --backend sim --machine "$machine" --sizes 1K:256M --variant "$variant" --no-data "${network[@]}"
done
if ((gpus > 1)); then
  job cuda "How fast is it on these $gpus GPUs, and how fast is NCCL?" \
    all_reduce --backend cuda --pes "$gpus" --sizes 1K:256M --graph --baseline nccl
elif ((gpus == 1)); then
  job cuda "Is it right on this GPU, shared by four PEs?" \
    all_reduce --backend cuda --pes 4 --gpus 1 --sizes 1K:16M
fi

# The value of a named column in the row with that many bytes.
cell() { # cell FILE BYTES COLUMN
  awk -F, -v bytes="$2" -v column="$3" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    $at["bytes"] == bytes { print $at[column]; exit }' "$1"
}

plot() {
  local variant lines=""
  for variant in $variants; do
    lines+="'$results/sim-$variant.csv' using (column('bytes')):(column('busbw_gbps')) with linespoints title 'sim $variant', "
  done
  if [ -s "$results/cuda.csv" ] && ((gpus > 1)); then
    lines+="'$results/cuda.csv' using (column('bytes')):(column('busbw_gbps')) with linespoints title 'these GPUs', "
  fi
  gnuplot <<GNUPLOT
set terminal svg size 900,520 background 'white' font 'sans-serif,13'
set output '$results/plot.svg'
set datafile separator ','
set datafile columnheaders
set logscale x 2
set format x '2^{%L}'
set xlabel 'bytes per PE'
set ylabel 'bus bandwidth, GB/s'
set title 'all-reduce on ${machine##*/}' noenhanced
set key left top noenhanced
set grid
plot ${lines%, }
GNUPLOT
}

say "Results"
picture="No plot: gnuplot is not here."
if command -v gnuplot >/dev/null; then
  plot
  picture="![bus bandwidth by size](plot.svg)"
fi
{
  printf '# Quickstart, %s\n\n' "$(date '+%F %H:%M')"
  printf '`%s`, %s cores, %s GPUs. Packages %s s, build %s s, all %s s.\n\n' \
    "$(git describe --always --dirty 2>/dev/null || echo 'no git')" "$(nproc)" "$gpus" \
    "$packages_s" "$build_s" "$((SECONDS - began))"
  printf '## What ran\n\n| question | command | outcome | took | rows |\n| --- | --- | --- | --- | --- |\n%s\n' "$table"
  printf '## Simulated bus bandwidth on %s, GB/s\n\n| bytes | %s |\n| --- | --- | --- | --- |\n' \
    "$machine" "${variants// / | }"
  for bytes in 1024 65536 1048576 16777216 268435456; do
    printf '| %s ' "$bytes"
    for variant in $variants; do printf '| %s ' "$(cell "$results/sim-$variant.csv" $bytes busbw_gbps)"; done
    printf '|\n'
  done
  printf '\n%s\n\n' "$picture"
  printf 'Columns of the CSV files: docs/csv.md. Next: `sym list`, `sym doctor`, `sym run --help`.\n'
} >"$results/summary.md"

echo "took $((SECONDS - began)) s (packages $packages_s s, build $build_s s)"
if ((failed > 0)); then
  echo "$failed of the runs failed; their output is in $results"
  exit 1
fi
echo "results: $results/summary.md, plot.svg and CSV files beside it"
