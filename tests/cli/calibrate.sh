#!/usr/bin/env bash
# sym calibrate from outside: a simulated machine's constants come back in a file that is read again;
# what is not measured says so; a run outside says so; and what is refused.
source "$(dirname "$0")/common.bash"
calibrate=("$SYM" calibrate --backend sim)
run=("$SYM" run all_reduce --backend sim --no-data --network ports)

# number FILE KEY: its value.
number() { sed -n "/^    \"$2\": {/,/}/s/.*\"value\": \([0-9.e+-]*\),.*/\1/p" "$1"; }

try 0 "${calibrate[@]}" --out mine.json --samples times.csv
says "a simulation of h200x2"
says "written to mine.json"
[ "$(head -1 times.csv)" = probe,bytes,blocks,rounds,us ] || fail "header of times.csv"
awk -F, 'NR > 1 && !($5 > 0) { exit 1 } END { exit !(NR > 150) }' times.csv || fail "times.csv"
"$SYM" machine h200x2 --out given.json >out 2>err || fail "h200x2"
for key in launch_us flag_us release_us sm_write_gbps port_gbps port_read_gbps copy_engine_gbps hbm_gbps; do
  within 0.5 "$(number given.json $key)" "$(number mine.json $key)" ||
    fail "$key: $(number mine.json $key), where the machine has $(number given.json $key)"
done

# The file comes back byte for byte, prints what its numbers rest on, and can be run.
try 0 "$SYM" machine mine.json --out again.json
says "calibration: 20"
says "as h200x2, not calibrated: two-H200 baseline"
says "median error"
cmp mine.json again.json || fail "the file does not come back"
try 0 "${run[@]}" --machine mine.json --sizes 1K,64M --csv mine.csv
silent_about "outside"
try 0 "${run[@]}" --machine h200x2 --sizes 1K,64M --csv given.csv
while read -r a b; do within 1 "$a" "$b" || fail "$a us and $b us"; done < <(paste <(csv time_us mine.csv) <(csv time_us given.csv))

# More than was measured is run, and said.
try 0 "${run[@]}" --machine mine.json --bytes 1G
says "outside what mine was calibrated with: bytes 1073741824 (at most 268435456)"
try 0 "${run[@]}" --machine mine.json --bytes 1M --variant two_shot --blocks 200
says "blocks 200 (at most 132)"
try 0 "${run[@]}" --machine h200x2 --bytes 1G
silent_about "outside"

# Another machine on the same base; and what one GPU has, where the link is the base's.
sed 's/"name": "h200x2"/"name": "other"/; /"flag_us"/,/}/s/"value": 0.75/"value": 1.25/' given.json >other.json
try 0 "${calibrate[@]}" --simulate other.json --out back.json
within 0.5 1.25 "$(number back.json flag_us)" || fail "flag_us: $(number back.json flag_us)"
try 0 "${calibrate[@]}" --local --out local.json
grep -q '"port_gbps": {$' local.json || fail "no port_gbps in local.json"
[ "$(number local.json port_gbps)" = "$(number given.json port_gbps)" ] || fail "--local changes the port"
try 0 "${run[@]}" --machine local.json --bytes 1M
says "PEs 2 (at most 1)"

# Refused before anything is measured. A file that is there stays as it is.
refused "no_folder/mine.json" -- "${calibrate[@]}" --out no_folder/mine.json
refused "--out" -- "${calibrate[@]}"
refused "'h200x2'" -- "${calibrate[@]}" --machine h200x --out new.json
refused "'sim'" -- "$SYM" calibrate --backend sin --out new.json
refused "--simulate" -- "$SYM" calibrate --simulate h200x2 --out new.json
refused "one file" -- "${calibrate[@]}" --out new.json --samples new.json
refused "no_folder/times.csv" -- "${calibrate[@]}" --out new.json --samples no_folder/times.csv
[ ! -e new.json ] || fail "a refused calibration leaves a file"
sed 's/"gpus_per_node": 2/"gpus_per_node": 1/' "$SYM_SOURCE_DIR/models/machines/h200x2.json" >one.json
try 3 "${calibrate[@]}" --simulate one.json --out again.json
says "--local"
[ "$(wc -l <err)" = 1 ] || fail "not one line on stderr: $what"
cmp mine.json again.json || fail "a calibration that could not be made has changed its file"
try 0 "${calibrate[@]}" --simulate one.json --local --out new.json
if ! "$SYM" doctor | grep -q 'ok cuda'; then
  try 3 "$SYM" calibrate --out again.json
  says "cuda: "
else  # numbers of some GPU, which are not known but not absurd either
  try 0 "$SYM" calibrate --local --out gpu.json
  says ", driver "
  awk -v v="$(number gpu.json hbm_gbps)" 'BEGIN { exit !(v > 200 && v < 20000) }' || fail "hbm_gbps of the GPU"
  awk -v v="$(number gpu.json launch_us)" 'BEGIN { exit !(v > 0.1 && v < 10) }' || fail "launch_us of the GPU"
  if "$SYM" doctor | grep -qE 'gpus +(0|1) seen'; then
    try 3 "$SYM" calibrate --out again.json
    says "--local"
  else
    try 0 "$SYM" calibrate --out gpu.json
    awk -v v="$(number gpu.json port_gbps)" 'BEGIN { exit !(v > 5 && v < 2000) }' || fail "port_gbps of the GPUs"
  fi
fi

# A file that somebody has changed.
sed 's/"backend": "sim"/"backend": "guess"/' mine.json >bad.json
refused "calibration.backend" "guess" -- "$SYM" machine bad.json
sed 's/"pes": 2/"pes": 0/' mine.json >bad.json
refused "calibration.pes" -- "$SYM" machine bad.json

finish
