#!/usr/bin/env bash
# What the compiler makes of the named kernels: no access to memory of 1 or 2 bytes, those of 4 and 8
# are counts, flags and claims and few, no call but to what reports a failure, nothing spilled.
#
#   check.sh NVCC SOURCE_DIR    prints a row for each kernel. Exit status: 1 if one is not so.
set -euo pipefail
nvcc=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unit=$source/tests/code/named_kernels.cu
flags=(-std=c++20 -arch=sm_90 -O3 --expt-relaxed-constexpr -fmad=false -diag-suppress=445 "-I$source")
"$nvcc" "${flags[@]}" -ptx "$unit" -o "$folder/kernels.ptx"
"$(dirname "$nvcc")/ptxas" -arch=sm_90 -O3 -v "$folder/kernels.ptx" -o "$folder/kernels.cubin" 2>"$folder/log"

awk -v most_words=96 '
  function say(text) { print "FAIL: " name ": " text; failed = 1 }
  function done() {
    if (name == "") return
    printf "%-22s %4d registers  16 bytes: %3d loads %3d stores  words: %3d  narrow: %d  spilled: %d bytes\n",
           name, registers[name], wide_loads, wide_stores, words, narrow, spilled[name]
    if (narrow > 0) say(narrow " accesses of 1 or 2 bytes")
    if (words > most_words) say(words " accesses of 4 or 8 bytes; counts and flags are at most " most_words)
    if (wide_loads == 0 || wide_stores == 0) say("no access of 16 bytes at all")
    if (spilled[name] > 0) say(spilled[name] " bytes spilled")
    ++kernels
  }
  FNR == NR {  # the assembler: an entry, then its numbers
    if (match($0, /code[0-9]+[A-Za-z0-9]+E/)) {
      entry = substr($0, RSTART, RLENGTH)
      sub(/code[0-9]+/, "", entry); sub(/E.*/, "", entry)
    }
    if (match($0, /[0-9]+ bytes spill stores/) && /entry/ == 0 && entry != "" && !(entry in spilled))
      spilled[entry] = substr($0, RSTART, RLENGTH) + 0
    if (match($0, /Used [0-9]+ registers/) && !(entry in registers)) {
      text = substr($0, RSTART, RLENGTH); sub(/Used /, "", text); registers[entry] = text + 0
    }
    next
  }
  /^\.visible \.entry|^\.entry/ {
    done()
    name = $0
    match(name, /code[0-9]+[A-Za-z0-9]+E/)
    name = substr(name, RSTART, RLENGTH); sub(/code[0-9]+/, "", name); sub(/E.*/, "", name)
    wide_loads = wide_stores = words = narrow = 0
  }
  /^\.func|^\.visible \.func/ { done(); name = "" }
  name == "" { next }
  /(ld|st|red|atom)[.a-z_0-9:]*\.(global|sys)/ {
    if (/\.v4\.|\.b128/) { if (/ld/) ++wide_loads; else ++wide_stores }
    else if (/\.(u|b|s)(8|16)[ \t]/) ++narrow
    else ++words
  }
  /^[ \t]*call/ { calling = 1 }
  calling && /_ZN/ { if (!/report/) say("calls " $1); calling = 0 }
  END { done(); if (kernels < 7) { print "FAIL: " kernels " kernels found"; failed = 1 } exit failed }
' "$folder/log" "$folder/kernels.ptx"
