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
# Of what nothing is chosen there is nothing to explain, but where time is simulated.
refused "gemm are asked for by name" "--backend sim alone" -- "$SYM" run gemm --backend check --explain
refused "tile_reduce has one variant" "--backend sim alone" -- "$SYM" run tile_reduce --explain
refused "as for an all_reduce of as many bytes" -- "$SYM" run all_reduce_rms_norm --explain
try 0 "$SYM" run tile_reduce --backend sim --machine h200x2 --no-data --explain
says "bound by"
# Estimates are of what is asked for.
try 0 "$SYM" run reduce_scatter --backend sim --machine h200x2 --no-data --bytes 16M --variant push --blocks 4 --pieces 7 --explain
[ "$(grep -cE '^#     .* us, +4 blocks: ' out)" = 5 ] || fail "estimates of 4 blocks"
cp out seven
try 0 "$SYM" run reduce_scatter --backend sim --machine h200x2 --no-data --bytes 16M --variant push --blocks 4 --pieces 14 --explain
pieces() { sed -n 's/^#     push .*+ pieces \([0-9.]*\) .*/\1/p' "$1"; }
within 1 "$(pieces out)" "$(awk -v us="$(pieces seven)" 'BEGIN { print 2 * us }')" || fail "twice the pieces: $(pieces seven) and $(pieces out) us"
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

# One PE moves nothing, but has its own part to copy, with as many blocks as others take; and no bytes
# take no less than the bound says.
try 0 "$SYM" run all_reduce --backend sim --machine h200x2 --no-data --pes 1 --bytes 64M --variant two_shot --csv one.csv
[ "$(csv blocks one.csv)" -ge 16 ] || fail "blocks of one PE: $(csv blocks one.csv)"
for name in all_reduce all_gather reduce_scatter all_to_all broadcast; do
  try 0 "$SYM" run "$name" --backend sim --machine h200x2 --bytes 0 --variant all --csv nothing.csv
  csv percent_of_bound nothing.csv | awk '$1 > 100 { exit 1 }' || fail "$name of no bytes beats its bound"
done

# What is foretold is what is simulated, with multicast and without.
for job in h200x2:{all_gather,all_to_all,reduce_scatter,all_reduce,broadcast} dgx-h100:all_reduce; do
  name=${job#*:}
  try 0 "$SYM" run "$name" --backend sim --machine "${job%:*}" --no-data --sizes 16K,1M,64M --explain --csv chosen.csv
  paste <(csv time_us chosen.csv) <(sed -n 's/^# *auto: [^,]*, .*estimates, \([0-9.]*\) us.*/\1/p' out) >both
  [ "$(wc -l <both)" = 3 ] || fail "$job: three estimates"
  awk '{ if ($2 < 0.8 * $1 || $2 > 1.2 * $1) exit 1 }' both || fail "$job: simulated and foretold: $(tr '\n' ';' <both)"
done
finish
