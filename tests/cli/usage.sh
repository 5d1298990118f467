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
refused "double_tree was not compiled for dtype f16" "f32" -- "${run[@]}" --dtype f16 --variant double_tree
refused "say the sizes once" -- "${run[@]}" --sizes 1K --bytes 2K
refused "skip=PE" -- "${run[@]}" --inject jump=1
refused "skip=5" "PEs are 0 to 1" -- "${run[@]}" --pes 2 --inject skip=5
refused "2" -- "${run[@]}" --backend sim --machine h200x2 --pes 3
refused "cannot read" -- "$SYM" replay no-such-file
refused "cannot read" -- "$SYM" compare no-such-file neither

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
try 0 "$SYM" run gemm --help
says "--splits"
says "--grid"
try 0 "$SYM" list --json
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
