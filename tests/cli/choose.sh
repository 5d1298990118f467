#!/usr/bin/env bash
# What `auto` chooses, that it says why on every backend, and that a number of the machine moves it.
source "$(dirname "$0")/common.bash"

for backend in check thread; do
  try 0 "$SYM" run all_gather --backend $backend --pes 2 --bytes 64K --explain
  says "auto: one_shot, least of"
  says "copy_engine"
done
try 0 "$SYM" run reduce_scatter --backend check --pes 2 --bytes 1K --variant ring --explain
says "; ring was asked for"
refused "goes with --backend sim alone" -- "$SYM" run gemm --backend check --explain
refused "goes with --backend cuda alone" -- "$SYM" run all_gather --backend check --variant nccl

sim=("$SYM" run all_gather --backend sim --no-data --pes 2 --csv chosen.csv)
try 0 "$SYM" machine h200x2 --out same.json
chosen() { # chosen MACHINE BYTES: the variant that auto takes
  try 0 "${sim[@]}" --machine "$1" --bytes "$2"
  csv variant chosen.csv
}
[ "$(chosen same.json 256M)" = copy_engine ] || fail "256M: $(csv variant chosen.csv)"
# One number: blocks that move as much as the copy engine have no reason to give way to it.
sed -E '/"port_gbps"/,/value/s/"value": *[0-9.]+/"value": 389/' same.json >wide.json
[ "$(chosen wide.json 256M)" = direct ] || fail "a wide port, 256M: $(csv variant chosen.csv)"

# What is foretold is what is simulated, with multicast and without.
for job in h200x2:{all_gather,all_to_all,reduce_scatter,all_reduce,broadcast} dgx-h100:all_reduce; do
  name=${job#*:}
  try 0 "$SYM" run "$name" --backend sim --machine "${job%:*}" --no-data --sizes 16K,1M,64M --explain --csv chosen.csv
  paste <(csv time_us chosen.csv) <(sed -n 's/^# *auto: [^,]*, .*estimates, \([0-9.]*\) us.*/\1/p' out) >both
  [ "$(wc -l <both)" = 3 ] || fail "$job: three estimates"
  awk '{ if ($2 < 0.8 * $1 || $2 > 1.2 * $1) exit 1 }' both || fail "$job: simulated and foretold: $(tr '\n' ';' <both)"
done
finish
