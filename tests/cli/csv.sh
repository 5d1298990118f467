#!/usr/bin/env bash
# The CSV: one schema for every backend, and what compare makes of two.
source "$(dirname "$0")/common.bash"

try 0 "$SYM" run all_reduce --backend check --pes 2 --sizes 1K,4K --csv check.csv
try 0 "$SYM" run all_reduce --backend thread --pes 2 --sizes 1K,4K -n 2 --csv thread.csv
try 0 "$SYM" run all_reduce --backend sim --machine h200x2 --network ports --sizes 1K,4K --csv sim.csv
for file in check thread sim; do
  head -1 $file.csv | cmp -s - "$SYM_SOURCE_DIR/tests/golden/csv_header.txt" || fail "header of $file.csv"
  [ "$(wc -l <$file.csv)" = 3 ] || fail "rows of $file.csv"
  [ "$(csv bytes $file.csv | paste -sd' ')" = "1024 4096" ] || fail "sizes of $file.csv"
  [ "$(csv wrong $file.csv | sort -u)" = 0 ] || fail "wrong data in $file.csv"
done
# Exact data and one seed: the same bits on every backend.
try 0 "$SYM" run all_reduce --backend sim --machine h200x2 --network ports --sizes 1K,4K --variant two_shot --iterations 1 --csv a.csv
try 0 "$SYM" run all_reduce --backend check --sizes 1K,4K --variant two_shot --iterations 1 --csv b.csv
try 0 "$SYM" run all_reduce --backend thread --sizes 1K,4K --variant two_shot --iterations 1 --csv c.csv
[ "$(csv hash a.csv)" = "$(csv hash b.csv)" ] || fail "hashes of sim and check differ"
[ "$(csv hash c.csv)" = "$(csv hash b.csv)" ] || fail "hashes of thread and check differ"
# The golden bits, as the command prints them.
while read -r variant pes hash per_node; do
  [ "${variant:0:1}" = "#" ] && continue
  try 0 "$SYM" run all_reduce --data random --seed 7 --iterations 1 --bytes 20014 --dtype bf16 --blocks 3 --pes "$pes" \
    ${per_node:+--per-node "$per_node"} --variant "$variant" --backend check
  says "hash $hash"
done <"$SYM_SOURCE_DIR/tests/golden/bits.txt"

refused "--csv and --json both name same.txt" -- "$SYM" run all_reduce --backend check --csv same.txt --json same.txt
sed 's/^/measured-/; 1s/measured-//' sim.csv >measured.csv
try 0 "$SYM" compare measured.csv sim.csv
says "2 points   median    0.0 %"
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "time_us") c = i } NR > 1 { $c *= 1.25 } { print }' sim.csv >slow.csv
try 0 "$SYM" compare sim.csv slow.csv
says "+25.0%"
says "worst   25.0 %"
refused "no row" -- "$SYM" compare check.csv sim.csv
# A table of nccl-tests: joined by size, the lesser of its two times counts, rows of other sizes do not.
{
  echo "# all_reduce_perf, 2 ranks"
  echo "size_bytes,count,oop_time_us,ip_time_us"
  paste -d, <(csv bytes sim.csv) <(csv time_us sim.csv) | awk -F, '{ print $1 ",256," 1.25 * $2 "," 1.6 * $2 }'
  echo "8388608,256,1,1"
} >theirs.csv
try 0 "$SYM" compare theirs.csv sim.csv
says "2 points   median   20.0 %   worst   20.0 %   geomean   20.0 %"
silent_about "from 1M"
try 0 "$SYM" compare theirs.csv sim.csv --columns ip_time_us
says "2 points   median   37.5 %"
refused "theirs.csv:2" "no column 'nccl_us'" -- "$SYM" compare theirs.csv sim.csv --columns nccl_us
sed '$d' theirs.csv | tr ',' ';' >bad.csv
refused "bad.csv:2" "no column" -- "$SYM" compare bad.csv sim.csv
printf 'size_bytes,oop_time_us,ip_time_us\n1024,fast,\n' >bad.csv
refused "'fast' is no number" -- "$SYM" compare bad.csv sim.csv
echo "a,b" >bad.csv
refused "bad.csv:1" "no column" -- "$SYM" compare bad.csv sim.csv
# A run that is stopped, or that comes to a size that it refuses, leaves the rows that it had, whole.
"$SYM" run all_reduce --backend thread --pes 2 --sizes 64,64M -n 1000 --csv stopped.csv >out 2>err &
for _ in $(seq 200); do
  [ "$(wc -l 2>/dev/null <stopped.csv)" = 2 ] && break
  sleep 0.1
done
kill -TERM $!
wait $! 2>/dev/null
what="a run that was stopped"
[ "$(csv bytes stopped.csv)" = 64 ] || fail "rows of $what: $(cat stopped.csv)"
[ "$(tail -c1 stopped.csv | od -An -c | tr -d ' ')" = '\n' ] || fail "the last row of $what is not whole"
refused "6 is no multiple" -- "$SYM" run all_reduce --backend check --dtype f32 --sizes 8,6 --csv refused.csv
[ "$(csv bytes refused.csv)" = 8 ] || fail "rows before a size that is refused"

# Names with commas, quotes and ends of lines are quoted, and compare reads them again.
"$SYM" machine h200x2 --out named.json >/dev/null || fail "machine --out"
sed -i 's/"name": "h200x2"/"name": "two, \\"large\\"\\nGPUs"/' named.json
try 0 "$SYM" run all_reduce --backend sim --machine named.json --network ports --sizes 1K,4K --csv named.csv
sed -n 2p named.csv | grep -qF 'sim,"two, ""large""' || fail "a name in quotes: $(cat named.csv)"
sed -n 3p named.csv | grep -q '^GPUs",all_reduce,' || fail "a name of two lines: $(cat named.csv)"
try 0 "$SYM" compare named.csv named.csv
says "2 points   median    0.0 %"

try 0 "$SYM" run all_reduce --backend check --bytes 1K --json out.json
grep -q '"algorithm": "all_reduce"' out.json || fail "json"
finish
