#!/usr/bin/env bash
# all_reduce_rms_norm and tile_reduce from outside: on every backend that needs no GPU, with the same
# bits, and what is refused.
source "$(dirname "$0")/common.bash"
norm=("$SYM" run all_reduce_rms_norm)
tile=("$SYM" run tile_reduce)

try 0 "${norm[@]}" --backend check --pes 1,2,3 --tokens 0,1,5 --hidden 24 --variant all --residual --csv norm.csv
[ "$(csv wrong norm.csv | sort -u)" = 0 ] || fail "wrong rows"
[ "$(csv residual norm.csv | sort -u)" = 1 ] || fail "the residual is not in the CSV"
try 0 "${norm[@]}" --backend check --pes 3 --tokens 4 --hidden 1 --dtype f16 --schedule random --runs 5
try 0 "${tile[@]}" --backend check --pes 1,2,3 --rows 20 --cols 37 --tile 8x16,20x37,1x1 --csv tile.csv
[ "$(csv wrong tile.csv | sort -u)" = 0 ] || fail "wrong tiles"
[ "$(csv tile tile.csv | head -1)" = 20x37/8x16 ] || fail "the tile is not in the CSV"
try 0 "${tile[@]}" --backend thread --pes 4 --rows 100 --cols 37 --tile 9x16 --op avg --dtype i32 --blocks 3 -n 2
try 0 "${tile[@]}" --backend check --pes 2 --rows 0 --cols 8

# With random floats too, the fused variants give the same bits; f32 also those of the unfused pair.
try 0 "${norm[@]}" --backend thread --pes 3 --tokens 7 --hidden 100 --data random --variant all --iterations 1 -n 1 --csv bf16.csv
[ "$(csv wrong bf16.csv | sort -u)" = 0 ] || fail "wrong rows of random floats"
[ "$(csv hash bf16.csv | head -2 | sort -u | wc -l)" = 1 ] || fail "one_shot and two_shot differ"
try 0 "${norm[@]}" --backend sim --machine h200x2 --pes 2 --tokens 7 --hidden 100 --dtype f32 --data random --variant all --csv f32.csv
[ "$(csv hash f32.csv | sort -u | wc -l)" = 1 ] || fail "f32: fused and unfused differ"
try 0 "${norm[@]}" --backend check --pes 2 --tokens 7 --hidden 100 --dtype f32 --data random --iterations 1 --csv check.csv
[ "$(csv hash check.csv)" = "$(csv hash f32.csv | head -1)" ] || fail "hashes of sim and check differ"
try 0 "${norm[@]}" --backend sim --machine h200x2 --pes 2 --tokens 32 --hidden 4096 --variant unfused --no-data --csv unfused.csv
try 0 "${norm[@]}" --backend sim --machine h200x2 --pes 2 --tokens 32 --hidden 4096 --variant one_shot --no-data --csv fused.csv
awk -v a="$(csv time_us fused.csv)" -v b="$(csv time_us unfused.csv)" 'BEGIN { exit !(a < b) }' || fail "one kernel takes longer than two"
try 0 "${tile[@]}" --backend sim --machine h200x2 --rows 512 --cols 512 --tile 128x128 --no-data
refused "4294967296 tiles of a matrix of 65536 x 65536; at most 1048576" -- "${tile[@]}" --backend sim --machine h200x2 --rows 65536 --cols 65536 --tile 1x1 --no-data
try 3 "${tile[@]}" --backend check --pes 3 --rows 10000000 --cols 10000000 --tile 1000000x1000000
says "GiB at least"

try 1 "${norm[@]}" --backend check --pes 2 --tokens 3 --hidden 24 --inject count=1
says "MISMATCH"
try 1 "${tile[@]}" --backend check --pes 2 --inject count=1 --rows 16 --cols 16
says "MISMATCH"
refused "--hidden 0: a row has at least 1 element" -- "${norm[@]}" --hidden 0
refused "--hidden 16385: rows of at most 16384 elements are normalised" -- "${norm[@]}" --hidden 16385
refused "--tile '8' is no tile; write ROWSxCOLUMNS, as 128x128" -- "${tile[@]}" --tile 8
refused "--tile '0x8' is no tile" -- "${tile[@]}" --tile 0x8
refused "--residual is no option of tile_reduce" -- "${tile[@]}" --residual
# Each operator is compiled for GPUs: where there is none, that is all that is missing.
cases=$((cases + 1))
what="tile_reduce --op max on cuda"
"${tile[@]}" --backend cuda --pes 1 --rows 16 --cols 16 --op max >out 2>err
silent_about "compiled for --op sum alone"
finish
