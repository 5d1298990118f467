#!/usr/bin/env bash
# Bad usage and bad input: exit 2, one line, what would be accepted.
source "$(dirname "$0")/common.bash"
run=("$SYM" run all_reduce)

refused "unknown algorithm 'al_reduce'" "'all_reduce'" -- "$SYM" run al_reduce
refused "unknown command 'rum'" "'run'" -- "$SYM" rum all_reduce
refused "'--size'" "'--sizes'" -- "${run[@]}" --size 4K
refused "'--blokcs=3'" "'--blocks'" -- "${run[@]}" --blokcs=3
refused "unknown dtype 'bf17'" "'bf16'" -- "${run[@]}" --dtype bf17
refused "unknown op 'summ'" "'sum'" -- "${run[@]}" --op summ
refused "unknown variant 'one_shoot'" "'one_shot'" -- "${run[@]}" --variant one_shoot
refused "unknown variant 'ringg' of all_gather" "'ring'" -- "$SYM" run all_gather --variant ringg
refused "unknown backend 'chekc'" "'check'" -- "${run[@]}" --backend chekc
refused "unknown schedule 'worse'" "'worst'" -- "${run[@]}" --schedule worse
refused "unknown knob 'splits'" "'split'" -- "${run[@]}" --knobs splits
refused "unknown network 'port'" "'ports'" -- "${run[@]}" --backend sim --machine h200x2 --network port
refused "h200x3" "h200x2" -- "${run[@]}" --backend sim --machine h200x3
refused "--machine" -- "${run[@]}" --backend sim
refused "--pes '0'" -- "${run[@]}" --pes 0
refused "--pes '-1'" -- "${run[@]}" --pes=-1
refused "--pes '2,x'" -- "${run[@]}" --pes 2,x
refused "3 is no multiple of the 2 bytes of bf16" -- "${run[@]}" --bytes 3 --dtype bf16
refused "6 is no multiple of the 4 bytes of f32" -- "${run[@]}" --sizes 8,6 --dtype f32
refused "'4Q'" -- "${run[@]}" --sizes 4Q
refused "'4K:1K'" -- "${run[@]}" --sizes 4K:1K
refused "--runs" -- "${run[@]}" --runs 0
refused "--root 2" -- "$SYM" run broadcast --root 2 --pes 2
refused "--per-node 3" "4 PEs" -- "${run[@]}" --pes 4 --per-node 3 --variant hierarchical_ring
refused "--pieces 1025: check chooses among all pieces" "at most 1024" -- "${run[@]}" --variant ring_pipelined --pieces 1025
refused "at most 1048576" -- "${run[@]}" --backend thread --variant staged --pieces 2000000000
# Pieces of a simulated plan take their number, and not its square.
try 0 timeout 20 "$SYM" run reduce_scatter --backend sim --machine h200x2 --no-data --bytes 1M --variant staged --pieces 60000
refused "double_tree was not compiled for dtype f16" "f32" -- "${run[@]}" --dtype f16 --variant double_tree
refused "say the sizes once" -- "${run[@]}" --sizes 1K --bytes 2K
refused "skip=PE" -- "${run[@]}" --inject jump=1
refused "skip=5" "PEs are 0 to 1" -- "${run[@]}" --pes 2 --inject skip=5
refused "2" -- "${run[@]}" --backend sim --machine h200x2 --pes 3
refused "cannot read" -- "$SYM" replay no-such-file
refused "cannot read" -- "$SYM" compare no-such-file neither

# Options that would have no effect, each with where it has one.
refused "--head has no effect here" "copy_engine" -- "${run[@]}" --head 4K
refused "--pieces has no effect here: this is all_reduce two_shot" "ring_pipelined" -- "${run[@]}" --variant two_shot --pieces 3
refused "--per-node has no effect here" "hierarchical_ring" -- "${run[@]}" --variant ring --pes 4 --per-node 2
refused "--root has no effect here: broadcast alone" -- "${run[@]}" --root 0
refused "--op has no effect here: all_gather reduces nothing" -- "$SYM" run all_gather --op sum
refused "--blocks has no effect here" -- "$SYM" run gemm --blocks 3
try 0 "${run[@]}" --variant all --pieces 2 --pes 4 --per-node 2
try 0 "$SYM" run reduce_scatter --variant push --pieces 3 --op max
try 0 "$SYM" run broadcast --root 1
for option in "--gpus 1" "--threads 64"; do
  # shellcheck disable=SC2086  # words of one command
  refused "${option% *} goes with --backend cuda alone" -- "${run[@]}" $option
done
for option in "-n 3" "--wait-ms 5" --graph; do
  # shellcheck disable=SC2086
  refused "${option% *} goes with --backend thread or cuda; this is check" -- "${run[@]}" $option
done
refused "--schedule goes with --backend check alone" -- "${run[@]}" --backend thread --schedule worst
sim=("${run[@]}" --backend sim --machine h200x2)
refused "--iterations 3: sim runs one launch" -- "${sim[@]}" --iterations 3
refused "-c is about data" -- "${sim[@]}" --no-data -c 1
refused "-f is the factor" -- "${run[@]}" -f 2
refused "say the number of PEs once" -- "${run[@]}" --pes 2 -g 2

# What can be injected, and what seeds are counted for.
refused "skip=PE, count=PE can be injected here, and slow_gpu=" -- "${sim[@]}" --inject slow_gup=0:2
refused "with a FACTOR from 1 on" -- "${sim[@]}" --inject slow_gpu=0:0.5
refused "--inject says something of PE 5; PEs are 0 to 1" -- "${sim[@]}" --inject slow_gpu=5:2
refused "'1,skip=0' is no PE; one fault at a time" -- "${run[@]}" --inject skip=1,skip=0
refused "--runs counts seeds of --jitter" -- "${sim[@]}" --runs 3
refused "--runs goes with --schedule random or pct of --backend check, and with --jitter" -- "${run[@]}" --backend thread --runs 3
refused "--runs goes with --schedule random or pct; this is worst" -- "${run[@]}" --runs 3

# Empty values, and files that cannot be written.
for option in --csv --json --findings --sarif --suppress --knobs --pes --schedule --machine; do
  refused "$option" "empty" -- "${run[@]}" "$option" ''
  refused "$option" "empty" -- "${run[@]}" "$option="
done
refused "knob" "none" -- "${run[@]}" --knobs none,split
refused "unknown knob ''" -- "${run[@]}" --knobs split,
refused "--seed" -- "${run[@]}" --seed -1
refused "--seed" -- "${run[@]}" --seed=-1
refused "--time-limit" -- "${run[@]}" --time-limit nan
for option in --csv --json --sarif; do
  if [ -e /dev/full ]; then
    try 2 "${run[@]}" "$option" /dev/full
    [ "$(cat err)" = "sym: cannot write /dev/full" ] || fail "$option /dev/full: not one clear line"
  fi
done

# A key that no machine has, in a file: the nearest, and the line.
"$SYM" machine h200x2 --out machine.json >/dev/null || fail "machine --out"
sed 's/"flag_us"/"flags_us"/' machine.json >typo.json
refused "typo.json" "flags_us" "flag_us" -- "$SYM" machine typo.json
refused "typo.json" "flag_us" -- "${run[@]}" --backend sim --machine typo.json
try 0 "$SYM" machine machine.json

# What is not here: exit 3.
try 3 "${run[@]}" --backend ibgda
try 0 "$SYM" --help
[ "$(grep -c 'sym replay' out)" = 1 ] || fail "replay is not listed once"
try 0 "$SYM" run --help
try 0 "$SYM" --version
try 0 "$SYM" list
says "one_shot, one_shot_read, two_shot, ring"
says "hierarchical_hd, hierarchical_tree, nvls, nvls_tree"
says "direct, two_hop"
says "moe_dispatch_combine"
says "all_to_all_v"
says "all_reduce_rms_norm"
says "tile_reduce"
says "ag_a, ag_b, rs_a, rs_b, cannon"
says "dtypes bf16, f16, f32, f64"
says "ring_pipelined: bf16, f32, i32; on GPUs sum alone); ops sum, prod, max, min, avg"
try 0 "$SYM" run gemm --help
says "--splits"
says "--grid"
try 0 "$SYM" list --json
says '"fewer_dtypes": {'
[ "$(grep -c '"ops": \[\]' out)" = 7 ] || fail "algorithms without operators"
# A name that is registered twice is refused, not shadowed; the tutorial's kernel has its own.
if [ -n "${SYM_CAUGHT:-}" ]; then
  for verb in list "run all_to_all --bytes 64" --version; do
    # shellcheck disable=SC2086  # words of one command
    refused "algorithm 'all_to_all' is registered twice; give yours another name" \
      -- env SYM_TEST_TWICE=1 "$SYM_CAUGHT" $verb
  done
fi
if [ -n "${SYM_TUTORIAL:-}" ]; then
  try 0 "$SYM_TUTORIAL" list
  says "my_all_to_all"
  try 0 "$SYM_TUTORIAL" run my_all_to_all --pes 1,3 --sizes 0,2,4K
  if [ -n "${SYM_CAUGHT:-}" ]; then
    try 0 "$SYM_TUTORIAL" run my_all_to_all --backend check --pes 1,3 --sizes 0,2,4K
    says "experiments/tutorial/all_to_all.hpp:"  # the tutorial's kernel ran, not the shipped one
  fi
fi
try 0 "$SYM" doctor
try 2 "$SYM"
finish
