#!/usr/bin/env bash
# The distributed product from outside: every schedule on the checker for any number of PEs, the
# simulator, and what is refused before anything runs.
source "$(dirname "$0")/common.bash"
gemm=("$SYM" run gemm)
schedules=(ag_a ag_b rs_a rs_b cannon)
listed=$(IFS=,; echo "${schedules[*]}")

"${gemm[@]}" --backend thread --pes 1 --m 8 --n 8 --k 8 >out 2>err
[ $? != 3 ] || exit 77 # no Eigen in this build

try 0 "${gemm[@]}" --backend check --schedule "$listed" --pes 1,2,3,5,8 --m 129 --n 61 --k 83 --csv gemm.csv
[ "$(csv wrong gemm.csv | sort -u)" = 0 ] || fail "wrong elements"
[ "$(csv variant gemm.csv | sort | uniq -c | awk '{ print $1 }' | sort -u)" = 5 ] || fail "schedules of every number of PEs"
[ "$(csv schedule gemm.csv | sort -u)" = worst ] || fail "the checker's schedule"
# All of them without being named; parts larger than the axis; C, bias, few buffers, other types.
try 0 "${gemm[@]}" --backend check --pes 4 --m 3 --n 5 --k 2 --beta 2 --bias --csv small.csv
[ "$(csv variant small.csv | paste -sd, )" = "$listed" ] || fail "the default is all schedules on check"
for dtype in f16 f32 f64; do
  try 0 "${gemm[@]}" --backend check --pes 6 --m 40 --n 41 --k 42 --beta=-1 --bias --max-buffers 2 --dtype $dtype
done
try 0 "${gemm[@]}" --backend check --schedule random,cannon --runs 3 --grid 2x3 --pes 6 --m 31 --n 17 --k 23
try 0 "${gemm[@]}" --backend check --schedule fifo,all --pes 2 --m 31 --n 17 --k 23
try 0 "${gemm[@]}" --backend thread --schedule "$listed" --pes 4 --m 65 --n 33 --k 47 --graph -n 2
says "TFLOPS"

# Simulated: no memory is touched, twice the same, twice the work twice the time.
sim=("${gemm[@]}" --backend sim --machine dgx-h100 --pes 8 --network ports --no-data)
try 0 "${sim[@]}" --schedule ag_a --m 16384 --n 106496 --k 16384 --csv large.csv
try 0 "${sim[@]}" --schedule ag_a --m 16384 --n 106496 --k 16384 --csv again.csv
cmp large.csv again.csv || fail "two simulations differ"
try 0 "${sim[@]}" --schedule ag_a --m 16384 --n 106496 --k 32768 --csv twice.csv
within 5 "$(csv time_us twice.csv)" "$(awk -v t="$(csv time_us large.csv)" 'BEGIN { print 2 * t }')" ||
  fail "twice the work takes $(csv time_us twice.csv) us, once $(csv time_us large.csv)"
# Closed form: a rank of ag_a gets 7 of 8 parts of A.
[ "$(csv remote_bytes large.csv)" = $((7 * 16384 * 16384 / 8 * 2)) ] ||
  fail "remote bytes of ag_a: $(csv remote_bytes large.csv)"

# CUTLASS Distributed GEMM on H100 (PR 1907): 9.16 ms on 8 GPUs, 16.86 on 4; one rate for both.
within 8 "$(csv time_us large.csv)" 9160 || fail "8 GPUs take $(csv time_us large.csv) us, published 9160"
try 0 "${gemm[@]}" --backend sim --machine dgx-h100 --pes 4 --network ports --no-data --schedule ag_a --m 16384 --n 106496 --k 16384 --csv four.csv
within 8 "$(csv time_us four.csv)" 16862 || fail "4 GPUs take $(csv time_us four.csv) us, published 16862"

# Plans: verified for any number of ranks, and what is refused.
plan=("$SYM" plan gemm --m 129 --n 61 --k 83)
try 0 "${plan[@]}" --pes 1,2,3,4,5,6,7,8,9 --schedule all --csv plans.csv
[ "$(grep -c ' yes$' out)" = 45 ] || fail "plans that verify: $(grep -c ' yes$' out) of 45"
try 2 "${plan[@]}" --m 0
says "m"
try 2 "${plan[@]}" --schedule cannon --pes 6 --grid 2x2
says "2x2"
try 2 "${plan[@]}" --schedule canon
says "cannon"
try 2 "${plan[@]}" --max-buffers 1
try 2 "${plan[@]}" --beta nan
try 2 "$SYM" plan gemm --m 4G --n 4G --k 4G --pes 2
says "64 bits"

try 1 "${gemm[@]}" --backend check --schedule ag_a --pes 3 --m 30 --n 30 --k 30 --inject skip=1
says "PE 1"
try 1 "$SYM" replay "$(sed -n 's/^  replay .* //p' out)"
says "the same finding, word for word"

refused "--m 0" "at least 1" -- "${gemm[@]}" --m 0
refused "--n 0" "at least 1" -- "${gemm[@]}" --n 0
refused "--k 0" "at least 1" -- "${gemm[@]}" --k 0
refused "--m '1x'" -- "${gemm[@]}" --m 1x
refused "unknown schedule 'ag_c'" "'ag_a'" -- "${gemm[@]}" --schedule ag_c
refused "one at a time" -- "${gemm[@]}" --schedule worst,fifo
refused "2x3" "4 ranks" -- "${gemm[@]}" --pes 4 --schedule cannon --grid 2x3
refused "'2by3'" "ROWSxCOLUMNS" -- "${gemm[@]}" --grid 2by3
refused "takes no grid" -- "${gemm[@]}" --pes 6 --schedule ag_a --grid 2x3
refused "--max-buffers 1" -- "${gemm[@]}" --max-buffers 1
refused "--beta 0.5" "whole number" -- "${gemm[@]}" --beta 0.5
refused "dtype i32" "bf16, f16, f32, f64" -- "${gemm[@]}" --dtype i32
refused "--variant is no option of gemm" -- "${gemm[@]}" --variant ring
refused "--m is no option of broadcast" -- "$SYM" run broadcast --m 4
refused "unknown schedule 'ag_a'" -- "$SYM" run all_reduce --schedule ag_a
refused "--schedule goes with --backend check" -- "${gemm[@]}" --backend thread --schedule random,ag_a
finish
