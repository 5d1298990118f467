#!/usr/bin/env bash
# sym mutate: what the checker notices of one variant, and that what it noticed once it still does.
source "$(dirname "$0")/common.bash"

expected=$SYM_SOURCE_DIR/experiments/mutation/results/all_reduce.csv
try 0 "$SYM" mutate all_reduce --variant ring --proof-seconds 0 --expect "$expected" --csv now.csv --json now.json
says "sym mutate all_reduce ring"
[ "$(csv verdict now.csv | grep -c killed)" -ge 30 ] || fail "fewer than 30 mutants of the ring are killed"
grep -q '"verdict": "hang"' now.json || fail "a dropped signal of the ring does not hang it"
awk -F, '$3 == "fence" && $6 != "killed"' now.csv | grep -q . && fail "a mutant of a fence of the ring survives"

# What is called equivalent has a reason: what orders the same, or that there is nothing to order. Few of those
# that do matter may live. (All algorithms: tests/nightly.sh.)
try 0 "$SYM" mutate broadcast --min-score 95 --csv proved.csv
says "vacuous"
grep ',equivalent,' proved.csv | grep -qv "implied by" && fail "an equivalent mutant names nothing that implies it"
grep ',vacuous,' proved.csv | grep -qvE "none has its order from it|exchange rows" && fail "a vacuous mutant does not say why"
grep -E ',(equivalent|vacuous),' proved.csv | grep -qv "complete, no difference" && fail "an equivalent mutant is not proved"
try 0 "$SYM" mutate reduce_scatter --variant direct --min-score 95
try 0 "$SYM" mutate all_reduce --variant nvls --min-score 95
try 1 "$SYM" mutate reduce_scatter --variant direct --min-score 95 --proof-seconds 0   # nothing is proved, so quiets survive
says "BELOW 95 % quiet"

# A kill that is lost is named.
sed 's/,survived,/,killed,/' now.csv >wishes.csv
try 1 "$SYM" mutate all_reduce --variant ring --proof-seconds 0 --expect wishes.csv
says "LOST ring"

refused "--expect" -- "$SYM" mutate all_reduce --expect
refused "cannot read" -- "$SYM" mutate all_reduce --expect missing.csv
refused "no CSV of sym mutate" -- "$SYM" mutate all_reduce --variant ring --bytes 64 --pes 2 --proof-seconds 0 --expect "$0"
refused "cannot write" -- "$SYM" mutate all_reduce --csv nowhere/now.csv
silent_about "sym mutate all_reduce"  # said before anything runs
refused "has no mutant of all_gather" -- "$SYM" mutate all_gather --expect "$expected"
(head -1 "$expected" && grep ',ring,' "$expected" | sed 's/,ring,/,gnir,/') >others.csv
try 2 "$SYM" mutate all_reduce --variant ring --bytes 64 --pes 2 --proof-seconds 0 --expect others.csv
says "no mutant in common"
refused "--expect: its value is empty" -- "$SYM" mutate all_reduce --expect ''
try 0 "$SYM" mutate --help
says "--proof-seconds"
says "--expect"
refused "--proof-seconds" -- "$SYM" mutate all_reduce --proof-seconds soon
refused "--min-score" -- "$SYM" mutate all_reduce --min-score all
refused "name an algorithm" -- "$SYM" mutate --pes 2
refused "all_reduce" -- "$SYM" mutate all_reduse
finish
