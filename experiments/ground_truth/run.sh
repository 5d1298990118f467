#!/usr/bin/env bash
# Simulates every point of the measurements in ../shared/ground-truth with NCCL's constants, and says how far
# off each file is. SYM: the command (default build/release/sym); OUT: where results go (default: results/).
# Each name of files.txt is compared, or skipped in words where its file is not there; else this fails.
# EXPLAIN=no leaves out the search for what explains the misconfigured cluster, PLOT=no the plot.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
sym=${SYM:-$root/build/release/sym}
truth=${SYM_SHARED_DIR:-$root/../shared}/ground-truth
out=${OUT:-$here/results}
names() { grep -v -e '^#' -e '^$' "$here/files.txt" | cut -d'|' -f1; }
if [ ! -d "$truth" ]; then
  names | sed "s|\$|: skipped, no folder $truth|"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# measured FILE FIRST:LAST COLUMNS SCALE: those of its rows that have a time, sizes times SCALE
measured() {
  awk -F, -v OFS=, -v first="${2%:*}" -v last="${2#*:}" -v columns="$3" -v scale="$4" '
    /^#/ { next }
    !header { header = 1; n = split(columns, names, ",")
      for (i = 1; i <= NF; ++i) for (k = 1; k <= n; ++k) if ($i == names[k]) at[k] = i
      for (k = 1; k <= n; ++k) if (!at[k]) { print FILENAME ": no column " names[k] >"/dev/stderr"; exit 1 }
      print "size_bytes," columns; next }
    { ++row; line = sprintf("%.0f", $1 * scale); any = 0
      for (k = 1; k <= n; ++k) { line = line "," $at[k]; any += $at[k] != "" }
      if (row >= first && row <= last && any) { print line; ++kept } }
    END { if (header && !kept) { print FILENAME ": no times in rows " first ":" last >"/dev/stderr"; exit 1 } }' "$truth/$1"
}

# simulate MACHINE ALGORITHM FLAVOUR MEASURED SIMULATED [OPTION...]
simulate() {
  local machine=$1 algorithm=$2 flavour=$3 sizes
  sizes=$(tail -n +2 "$4" | cut -d, -f1 | paste -sd,)
  local file=$here/machines/${machine%%\**}.json
  [ ! -f "$file" ] || machine=$file${machine#"${machine%%\**}"}
  "$sym" run "$algorithm" --backend sim --network ports --no-data --dtype f32 --machine "$machine" \
    --flavour "$flavour" --sizes "$sizes" --csv "$5" "${@:6}" >"$work/run.log" 2>&1 ||
    { cat "$work/run.log"; return 1; }
}

# percent NAME COMPARED: ",median,worst,geomean" of that line of sym compare; nothing if it is not there
percent() {
  awk -v name="$1 " 'index($0, name) == 1 {
    for (i = 1; i <= NF; ++i) if ($i == "median" || $i == "worst" || $i == "geomean") printf ",%s", $(i + 1) }' "$2"
}
median_and_worst() { # the first two, or two empty cells
  local all
  all=$(percent "$1" "$2")
  echo ",$(cut -d, -f2 <<<"$all,,"),$(cut -d, -f3 <<<"$all,,")"
}

echo "name,file,machine,flavour,points,points_from_1M,median_from_1M,worst_from_1M,geomean_from_1M,median_to_64K,worst_to_64K,median_64K_to_4M,worst_64K_to_4M,median_over_4M,worst_over_4M" >"$out/summary.csv"
echo "name,bytes,nccl,measured_us,simulated_us,error_percent" >"$out/points.csv"
compare_one() { # compare_one NAME FILE MACHINE FLAVOUR COLUMNS
  local text=$work/$1.txt
  "$sym" compare "$work/$1.csv" "$work/$1.sim.csv" --columns "$5" >"$text"
  echo "$1,$2,$3,$4,$(awk '/^all / { print $2 }' "$text"),$(awk '/^from 1M/ { print $3 }' "$text")$(percent 'from 1M' "$text")$(median_and_worst 'up to 64K' "$text")$(median_and_worst '64K to 4M' "$text")$(median_and_worst 'over 4M' "$text")" >>"$out/summary.csv"
  awk -v name="$1" '$1 ~ /^[0-9]+$/ { sub(/nccl:/, "", $2); sub(/%/, "", $6); printf "%s,%s,%s,%s,%s,%s\n", name, $1, $2, $4, $5, $6 }' "$text" >>"$out/points.csv"
}

skip() { # skip NAME WHY
  echo "$1: skipped, $2"
  skipped+=("$1")
}
skipped=()
study() { # study NAME FILE ROWS COLUMNS ALGORITHM MACHINE FLAVOUR SCALE
  if [ ! -f "$truth/$2" ]; then
    skip "$1" "no $truth/$2"
  elif ! "$sym" list | grep "^ *$5 " >/dev/null; then
    skip "$1" "this sym has no $5"
  else
    measured "$2" "$3" "$4" "$8" >"$work/$1.csv"
    simulate "$6" "$5" "$7" "$work/$1.csv" "$work/$1.sim.csv"
    compare_one "$1" "$2" "$6" "$7" "$4"
    awk -F, -v name="$1" '$1 == name { printf "%-24s %3d points   from 1 MiB: median %5.1f %%   worst %5.1f %%\n", $1, $5, $7, $8 }' "$out/summary.csv"
  fi
}

while IFS='|' read -r -a field; do
  case ${field[0]} in '#'* | '') continue ;; esac
  study "${field[@]}"
done <"$here/files.txt"

# Nothing passes in silence: a name has a line of results, or was skipped in words.
all=$(names | wc -l)
for name in $(names); do
  grep -q "^$name," "$out/summary.csv" || [[ " ${skipped[*]-} " == *" $name "* ]] ||
    { echo "$name: neither compared nor skipped"; exit 1; }
done
echo "$((all - ${#skipped[@]})) of $all files compared${skipped[*]:+; skipped: ${skipped[*]}}"

# NCCL's ring on two H200, beside our own measurements.
ours=$root/experiments/all_reduce_h200/results/all_reduce_two_shot.csv
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; print "size_bytes,nccl_us"; next }
  { print $at["bytes"], $at["baseline_plain_us"] }' "$ours" >"$work/h200x2-ours.csv"
simulate h200x2 all_reduce nccl:ring "$work/h200x2-ours.csv" "$work/h200x2-ours.sim.csv"
compare_one h200x2-ours "${ours##*/}" h200x2 nccl:ring nccl_us

# One number that makes the misconfigured cluster fit: the rate of each of its NICs.
explain() { # explain NAME FLAVOUR LOW HIGH STEP: "median nic" of the best
  local nic
  awk -v low="$3" -v high="$4" -v step="$5" 'BEGIN { for (nic = low; nic <= high; nic *= step) print nic }' |
    while read -r nic; do
      simulate 'dgx-h100*2' all_reduce "$2" "$work/$1.csv" "$work/try.csv" --what-if "nic_gbps=$nic"
      "$sym" compare "$work/$1.csv" "$work/try.csv" |
        awk -v nic="$nic" '/^from 1M/ { for (i = 1; i <= NF; ++i) if ($i == "median") print $(i + 1), nic }'
    done | sort -n | head -1
}
if [ "${EXPLAIN:-yes}" = yes ] && [ -f "$work/misconfigured-default.csv" ]; then
  for half in default:nccl ring:nccl:ring; do
    read -r median nic <<<"$(explain "misconfigured-${half%%:*}" "${half#*:}" 4 50 1.05)"
    echo "misconfigured-${half%%:*}: with NICs of $nic GB/s in place of 48.5 the median is $median %"
  done | tee "$out/misconfigured.txt"
fi
if [ "${PLOT:-yes}" = yes ] && command -v gnuplot >/dev/null; then (cd "$out" && gnuplot "$here/plot.gp"); fi
