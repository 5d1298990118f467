#!/usr/bin/env bash
# all_to_all_v and the MoE exchange from outside: every pattern on the checker, other splits on one
# channel, what the device detects, and what is refused before anything runs.
source "$(dirname "$0")/common.bash"
moe=("$SYM" run moe_dispatch_combine)
a2av=("$SYM" run all_to_all_v)

try 0 "${a2av[@]}" --backend check --pes 6 --splits primes,zero,one_peer --csv a2av.csv
[ "$(csv wrong a2av.csv | paste -sd' ')" = "0 0 0" ] || fail "wrong rows"
[ "$(csv splits a2av.csv | paste -sd' ')" = "primes zero one_peer" ] || fail "splits in the CSV"
try 0 "${a2av[@]}" --backend check --pes 1,2,3 --tokens 0,1,17 --hidden 5 --dtype u8
try 0 "${a2av[@]}" --backend thread --pes 3 --tokens 40 --splits uniform,primes,zero,one_peer --dtype f32 --graph -n 2
try 0 "${moe[@]}" --backend check --pes 1,3,8 --tokens 0,1,7 --experts 16 --topk 4 --hidden 9 \
  --routing uniform,one_expert,skewed --csv moe.csv
[ "$(csv wrong moe.csv | sort -u)" = 0 ] || fail "wrong rows or tokens"
[ "$(wc -l <moe.csv)" = 28 ] || fail "rows of the product of PEs, tokens and routing"
try 0 "${moe[@]}" --backend check --pes 3 --tokens 20 --experts 5 --topk 5 --alignment 16 --dtype f32
try 0 "${moe[@]}" --backend thread --pes 4 --tokens 33 --alignment 4 --graph -n 2

# The same bits on every backend, and a simulation that is the same twice.
try 0 "${moe[@]}" --backend sim --machine dgx-h100 --network ports --pes 4 --tokens 50 --csv sim.csv
try 0 "${moe[@]}" --backend sim --machine dgx-h100 --network ports --pes 4 --tokens 50 --csv again.csv
cmp sim.csv again.csv || fail "two simulations differ"
try 0 "${moe[@]}" --backend check --iterations 1 --pes 4 --tokens 50 --csv check.csv
[ "$(csv hash sim.csv)" = "$(csv hash check.csv)" ] || fail "hashes of sim and check differ"
for column in dispatch_us combine_us remote_bytes link_percent duplicates; do
  [ -n "$(csv $column sim.csv)" ] || fail "no $column in a simulated row"
done
try 0 "${moe[@]}" --backend sim --machine dgx-h100 --network ports --pes 4 --tokens 50 --no-data --csv none.csv
[ "$(csv time_us sim.csv)" = "$(csv time_us none.csv)" ] || fail "data changes the time"
# Closed form: with one PE nothing is remote; with all experts chosen each row goes everywhere once.
try 0 "${moe[@]}" --backend check --pes 4 --tokens 10 --experts 4 --topk 4 --hidden 8 --csv all.csv
[ "$(csv remote_bytes all.csv)" = $((3 * 10 * 8 * 2)) ] || fail "remote bytes of all to all"
[ -z "$(csv duplicates all.csv)" ] || fail "one expert a PE sends nothing twice"

try 2 "${moe[@]}" --backend check --pes 8 --tokens 2305843009213693952 --topk 8 --experts 8 --hidden 8
try 2 "${moe[@]}" --backend sim --machine h200x2 --no-data --pes 2 --tokens 64M --topk 8 --experts 8 --hidden 7168
says "32 bits"
try 2 "${moe[@]}" --backend thread --pes 2 --tokens 7 --hidden 32 --capacity 288230376151711745
says "31 bits"
try 2 "${moe[@]}" --backend check --pes 2 --alignment 4294967296
says "--alignment"
try 2 "${moe[@]}" --backend check --pes 3 --tokens 7 --blocks 100000
says "--blocks"
try 2 "${moe[@]}" --backend check --pes 2 --experts 2000000000
says "at most 16384"
try 2 "${moe[@]}" --backend check --pes 2 --tokens 0 --inject bad_id
says "needs a token"

# What the device must detect: exit 1 and the sentence, and the next point is right.
for backend in check thread; do
  try 1 "${moe[@]}" --backend $backend --pes 3 --inject bad_id
  says "an expert id outside of -1 to experts - 1"
  try 1 "${moe[@]}" --backend $backend --pes 3 --inject nan_weight
  says "a weight that is NaN"
  try 1 "${moe[@]}" --backend $backend --pes 3 --inject overflow
  says "at most the capacity"
  try 1 "${moe[@]}" --backend $backend --pes 2 --capacity 3 --tokens 64,1 --topk 1
  says "1 of 2 points FAILED"
  try 1 "${a2av[@]}" --backend $backend --pes 3 --capacity 25 --tokens 30
  says "at most the capacity"
done
try 1 "${moe[@]}" --backend check --pes 3 --routing skewed --tokens 5 --hidden 3 --alignment 2 --inject bad_id
try 1 "$SYM" replay "$(sed -n 's/^  replay .* //p' out)"
says "the same finding, word for word"
try 1 "${moe[@]}" --backend check --pes 3 --inject skip=1
says "missing: PE 1"
try 1 "${a2av[@]}" --backend check --pes 3 --splits zero --inject skip=1
says "missing: PE 1"

refused "--topk 9" "--experts 8" -- "${moe[@]}" --experts 8 --topk 9
refused "--alignment 0" "at least 1" -- "${moe[@]}" --alignment 0
refused "--alignment -4" "at least 1" -- "${moe[@]}" --alignment=-4
refused "--hidden 0" -- "${moe[@]}" --hidden 0
refused "--hidden '-3'" -- "${moe[@]}" --hidden=-3
refused "--experts 0" -- "${moe[@]}" --experts 0
refused "--topk 0" -- "${moe[@]}" --topk 0
refused "--capacity" -- "${moe[@]}" --capacity 0
refused "--tokens 'x'" -- "${moe[@]}" --tokens 4,x
refused "unknown routing 'uniforn'" "'uniform'" -- "${moe[@]}" --routing skewed,uniforn
refused "unknown splits 'prime'" "'primes'" -- "${a2av[@]}" --splits prime
refused "--inject 'bad'" "bad_id" -- "${moe[@]}" --inject bad
refused "--inject 'overflow'" "skip=PE" -- "${a2av[@]}" --inject overflow
refused "dtype i32" "bf16, f32" -- "${moe[@]}" --dtype i32
refused "dtype f64" "bf16, f32, u8" -- "${a2av[@]}" --dtype f64
refused "--sizes is no option of moe_dispatch_combine" "--tokens" -- "${moe[@]}" --sizes 1K
refused "--tokens is no option of all_reduce" "--sizes" -- "$SYM" run all_reduce --tokens 4
refused "--routing is no option of all_to_all_v" "--splits" -- "${a2av[@]}" --routing skewed
refused "two rows or more" -- "${moe[@]}" --inject overflow --tokens 0
refused "NCCL has nothing" -- "${moe[@]}" --backend cuda --baseline nccl
finish
