#!/usr/bin/env bash
# One PE that skips a collective or comes with another count: named, at once or within the wait limit.
source "$(dirname "$0")/common.bash"

# at_most SECONDS: the last command took no longer.
begin() { started=$(date +%s%N); }
at_most() {
  local ms=$((($(date +%s%N) - started) / 1000000))
  [ "$ms" -le "$1" ] || fail "took $ms ms, more than $1: $what"
}

for variant in one_shot two_shot ring; do
  common=("$SYM" run all_reduce --pes 3 --bytes 4K --variant "$variant" --blocks 2)
  for schedule in worst fifo random; do
    begin
    try 1 "${common[@]}" --backend check --schedule "$schedule" --inject skip=1
    at_most 2000
    says "DEADLOCK"
    says "missing: PE 1"
    says "slot 0"
    says "slot 1"
    try 1 "${common[@]}" --backend check --schedule "$schedule" --inject count=1
    says "MISMATCH"
    says "PE 1"
  done
  begin
  try 1 "${common[@]}" --backend sim --machine dgx-h200 --network ports --inject skip=1
  at_most 2000
  says "missing: PE 1"
  says "slot 0"
  begin
  try 1 "${common[@]}" --backend thread --wait-ms 300 --inject skip=1
  at_most 3000
  says "missing PE 1"
  says "slot"
  begin
  try 1 "${common[@]}" --backend thread --wait-ms 300 --inject count=1
  at_most 3000
  says "mismatch"
done
for algorithm in all_gather reduce_scatter broadcast; do
  try 1 "$SYM" run "$algorithm" --pes 3 --bytes 12K --backend check --inject skip=1
  says "missing: PE 1"
  try 1 "$SYM" run "$algorithm" --pes 3 --bytes 12K --backend sim --machine dgx-h200 --network ports --inject count=1
  says "MISMATCH"
  says "PE 1"
done
finish
