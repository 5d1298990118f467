#!/usr/bin/env bash
# The simulator from outside: rerun alike, both networks alike, all blocks or one fibre alike, and sizes
# that no memory holds.
source "$(dirname "$0")/common.bash"
sim=("$SYM" run all_reduce --backend sim)
simgrid=true
"$SYM" doctor | grep -q -- '-- simgrid' && simgrid=false
network=ports
$simgrid && network=simgrid

# Two runs, byte for byte.
for i in 1 2; do
  try 0 "${sim[@]}" --machine dgx-h100*2 --sizes 1K:4M:x16 --variant all --network $network --csv run$i.csv
done
cmp run1.csv run2.csv || fail "two runs differ"

# 2^33 elements: the count is right, no memory is touched, and twice the size takes twice the time.
try 0 "${sim[@]}" --machine h200x2 --bytes 16G --dtype bf16 --no-data --network $network --csv huge.csv
says " 8589934592 "
[ "$(csv count huge.csv)" = 8589934592 ] || fail "count of 16G"
[ "$(csv bytes huge.csv)" = 17179869184 ] || fail "bytes of 16G"
try 0 "${sim[@]}" --machine h200x2 --bytes 8G --dtype bf16 --no-data --network $network --csv half.csv
within 2 "$(csv time_us huge.csv)" "$(awk -v t="$(csv time_us half.csv)" 'BEGIN { print 2 * t }')" ||
  fail "16G takes $(csv time_us huge.csv) us, 8G $(csv time_us half.csv)"
try 0 "$SYM" run all_gather --backend sim --machine h200x2 --bytes 16G --dtype u8 --variant ring --no-data --network $network --csv huge.csv
[ "$(csv count huge.csv)" = 8589934592 ] || fail "count of an all-gather of 16G"
try 0 "${sim[@]}" --machine h200x2 --bytes 256K --no-data --network $network --csv without.csv
try 0 "${sim[@]}" --machine h200x2 --bytes 256K --network $network --csv with.csv
[ "$(csv time_us with.csv)" = "$(csv time_us without.csv)" ] || fail "data changes the time"

# compare_all WHAT A.csv B.csv: times within 1 %, row by row.
compare_all() {
  paste <(csv time_us "$2") <(csv time_us "$3") >pairs
  [ "$(wc -l <pairs)" -gt 3 ] || fail "$1: too few rows"
  while read -r a b; do within 1 "$a" "$b" || fail "$1: $a us and $b us"; done <pairs
}
sizes=(--sizes 16K:64M:x8 --variant all --no-data)
for machine in dgx-h200 h200x2 dgx-h100*2; do
  try 0 "${sim[@]}" --machine "$machine" "${sizes[@]}" --network ports --csv ports.csv
  $simgrid || continue
  try 0 "${sim[@]}" --machine "$machine" "${sizes[@]}" --network simgrid --csv simgrid.csv
  compare_all "ports and simgrid on $machine" simgrid.csv ports.csv
done
for machine in dgx-h200 h200x2; do
  try 0 "${sim[@]}" --machine "$machine" "${sizes[@]}" --network ports --csv default.csv
  try 0 "${sim[@]}" --machine "$machine" "${sizes[@]}" --network ports --blocks-exact --csv exact.csv
  compare_all "--blocks-exact on $machine" exact.csv default.csv
done

# NCCL's choice with NCCL's constants: models/nccl.hpp has the numbers, tests/unit/nccl_test.cpp computes them.
nccl=("${sim[@]}" --no-data --network ports --csv nccl.csv --flavour)
try 0 "${nccl[@]}" nccl --machine dgx-h100 --sizes 8,1M,16M
says "nccl:nvls/Simple"
[ "$(csv flavour nccl.csv | xargs)" = 'nccl:ring/LL nccl:ring/LL nccl:nvls/Simple' ] || fail "choices: $(csv flavour nccl.csv | xargs)"
[ "$(csv variant nccl.csv | xargs)" = 'ring ring nvls' ] || fail "variants: $(csv variant nccl.csv | xargs)"
within 1 "$(csv time_us nccl.csv | sed -n 2p)" 28.01 || fail "NCCL's ring of 1 MiB: $(csv time_us nccl.csv)"
within 1 "$(csv time_us nccl.csv | sed -n 3p)" 117.5 || fail "NCCL's NVLS of 16 MiB: $(csv time_us nccl.csv)"
try 0 "${nccl[@]}" nccl:ring/LL128 --machine 'dgx-h100*2' --bytes 1M
[ "$(csv flavour nccl.csv)" = 'nccl:ring/LL128' ] || fail "not the one that was asked for"
# A NIC of a tenth of its rate bounds what NCCL, which knows its line rate, still chooses.
try 0 "${nccl[@]}" nccl --machine 'dgx-h100*2' --bytes 1G --what-if nic=0.1x
[ "$(csv flavour nccl.csv)" = 'nccl:nvls_tree/Simple' ] || fail "a slow NIC changes the choice"
within 2 "$(csv time_us nccl.csv)" 27700 || fail "1 GiB over 8 NICs of 4.85 GB/s: $(csv time_us nccl.csv)"
refused "nccl:ALGORITHM" -- "${sim[@]}" --machine dgx-h100 --flavour mpi
refused "nearest is 'nvls'" -- "${sim[@]}" --machine dgx-h100 --flavour nccl:nvl
refused "NCCL chooses" -- "${sim[@]}" --machine dgx-h100 --flavour nccl --variant ring
refused "NVLink switches" "pcie-8xa100" -- "${sim[@]}" --machine pcie-8xa100 --flavour nccl
refused "--flavour" "sim" -- "$SYM" run all_reduce --backend check --flavour nccl
refused "not for 'broadcast'" -- "$SYM" run broadcast --backend sim --machine dgx-h100 --flavour nccl
# Answers: the critical path in words, the error band of assumed numbers, and a timeline that is JSON.
try 0 "${sim[@]}" --machine dgx-h100*2 --bytes 64M --variant hierarchical_ring --no-data --network $network --explain --trace t.json --csv explained.csv
says "bound by  "
says "put_signal: NIC"
says "critical path of"
says "hierarchical.hpp"
says "gpu0>nvswitch"
grep -q '"ph":"X"' t.json || fail "no slices in the timeline"
python3 -c 'import json; assert len(json.load(open("t.json"))["traceEvents"]) > 100' 2>/dev/null ||
  ! command -v python3 >/dev/null || fail "the timeline is no JSON"
time=$(csv time_us explained.csv)
awk -v t="$time" -v l="$(csv time_low_us explained.csv)" -v h="$(csv time_high_us explained.csv)" \
  'BEGIN { exit !(l > t / 1.31 && l < t && h > t && h < t * 1.31) }' || fail "the band does not hold $time"
try 0 "${sim[@]}" --machine dgx-h100*2 --bytes 64M --variant hierarchical_ring --no-data --network $network --csv plain.csv
[ "$(csv time_us plain.csv)" = "$time" ] || fail "to be watched takes time"

# Multicast: checked, simulated without data on either network, and refused by name where there is none.
try 0 "$SYM" run all_reduce --backend check --pes 4 --bytes 1040 --variant nvls
try 0 "$SYM" run all_reduce --backend check --pes 6 --per-node 3 --bytes 1040 --variant nvls_tree
try 0 "$SYM" run all_gather --backend thread --pes 3 --bytes 1536 --variant nvls
try 0 "$SYM" run reduce_scatter --backend sim --machine dgx-h100 --bytes 64K --variant nvls --network $network
try 0 "${sim[@]}" --machine dgx-h100 --bytes 256M --no-data --network $network --csv auto.csv
[ "$(csv variant auto.csv)" = nvls ] || fail "auto takes $(csv variant auto.csv) where there is multicast"
refused "variant nvls needs NVLink multicast, which machine dgx-a100" -- "${sim[@]}" --machine dgx-a100 --variant nvls
refused "at most 8 of machine dgx-h100; nvls_tree" -- "${sim[@]}" --machine dgx-h100*2 --variant nvls
if [ -d "${SYM_SHARED_DIR:-/nowhere}/topo" ]; then  # what no file says is not assumed
  topo=$SYM_SHARED_DIR/topo/nvsmi-8xh100-9nic-2numa.txt
  refused "does not have" -- "${sim[@]}" --machine "$topo" --variant nvls
  try 0 "$SYM" machine "$topo" --out plain.json
  sed 's/"numbers": {/&"nvls_efficiency": {"value": 0.85, "source": "test", "measured": false},/' plain.json >switched.json
  try 0 "${sim[@]}" --machine switched.json --variant nvls --bytes 64K
fi
try 3 "$SYM" run all_reduce --backend cuda --variant nvls

# Two collectives at once, where links alone take time: two equal rings share every link, and each takes
# twice as long; of one that moves half the bytes, half of the other's are still to go when it ends.
alone=("$SYM" run all_gather --backend sim --machine dgx-h100 --bytes 1G --variant ring --no-data --network $network --what-if hbm=1000x,sm=1000x)
try 0 "${alone[@]}" --csv alone.csv
for beside in 1G:2 512M:1.5; do
  try 0 "${alone[@]}" --concurrent "all_gather:ring:${beside%:*}" --csv both.csv
  within 1 "$(csv time_us both.csv)" "$(awk -v t="$(csv time_us alone.csv)" -v f="${beside#*:}" 'BEGIN { print f * t }')" ||
    fail "a ring beside one of ${beside%:*}: $(csv time_us both.csv) us, alone $(csv time_us alone.csv)"
  [ "$(csv concurrent both.csv)" = "all_gather:ring:${beside%:*}" ] || fail "the row does not say what ran beside it"
done
try 0 "${sim[@]}" --machine dgx-h100 --bytes 64K --variant ring --network $network --check --concurrent all_gather:direct
refused "nearest is 'all_reduce'" -- "${alone[@]}" --concurrent all_reduc
refused "gemm ag_a cannot" -- "${alone[@]}" --concurrent gemm:ag_a
refused "ALGORITHM:VARIANT:BYTES" -- "${alone[@]}" --concurrent all_reduce:ring:1M:4
refused "cannot" -- "$SYM" run all_to_all_v --backend sim --machine dgx-h100 --concurrent all_reduce:ring:1M
refused "--backend sim alone" -- "$SYM" run all_reduce --backend check --concurrent all_gather

# What is wrong with a machine, where PEs are, and chance: the same seeds, the same rows.
slower() {
  awk -v a="$(csv time_us plain.csv)" -v b="$(csv time_us "$1")" 'BEGIN { exit !(b > 1.05 * a) }' || fail "$1 is not slower"
}
# In two levels, on the rails as the machine's numbers say.
try 0 "${sim[@]}" --machine dgx-h100*24 --bytes 1M --variant hierarchical --no-data --network ports --explain
says "hierarchical_tree"
says "on the rails"
try 0 "${sim[@]}" --machine dgx-h100*16 --bytes 1G --variant hierarchical --no-data --network ports
says "hierarchical_hd"
two=("${sim[@]}" --machine dgx-h100*2 --bytes 64M --variant hierarchical_ring --no-data --network $network)
for fault in slow_gpu=3:8 slow_nic=9:2 slow_link=0-8:3 background=0-8:400,background=8-0:400; do
  try 0 "${two[@]}" --inject "$fault" --csv disturbed.csv
  slower disturbed.csv
done
try 0 "${two[@]}" --placement round_robin --csv placed.csv
slower placed.csv
for i in 1 2; do try 0 "${two[@]}" --jitter lognormal:0.2 --runs 9 --csv jitter$i.csv; done
cmp jitter1.csv jitter2.csv || fail "two runs with jitter differ"
[ "$(csv runs jitter1.csv)" = 9 ] || fail "not 9 runs"
awk -v a="$(csv time_us jitter1.csv)" -v b="$(csv p99_us jitter1.csv)" 'BEGIN { exit !(b > a) }' || fail "p99 is no more than the median"
try 0 "${two[@]}" --jitter lognormal:0.2 --runs 9 --seed 100 --csv jitter3.csv  # no run in common
[ "$(csv time_us jitter3.csv)" != "$(csv time_us jitter1.csv)" ] || fail "another seed, the same time"
refused "slow_nic=PE:FACTOR" -- "${two[@]}" --inject slow_nic=3
refused "PEs are 0 to 15" -- "${two[@]}" --inject slow_gpu=16:2
refused "each PE needs one of its own" -- "${two[@]}" --placement 0,1
refused "--runs" -- "${two[@]}" --jitter lognormal:0.2 --runs 0
refused "lognormal:SIGMA" -- "${two[@]}" --jitter normal
refused "--trace is of one point" -- "${sim[@]}" --machine dgx-h100 --sizes 1K,2K --trace t.json
refused "--backend sim alone" -- "$SYM" run all_reduce --backend thread --trace t.json

# An interrupt ends it, on either network, without a word of what it met.
try 130 timeout --preserve-status -s INT 0.5 "${sim[@]}" --machine 'dgx-h100*16' --sizes 1K:4G --variant ring --no-data --network $network
silent_about "Segmentation"
silent_about "EXIT"
silent_about "died"

# The same run also checks.
try 0 "${sim[@]}" --machine dgx-h200 --bytes 64K --variant all --check --network $network
finish
