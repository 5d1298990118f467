#!/usr/bin/env bash
# The planted bug from a user's program: the race with both lines and the replay command, and the
# replay, word for word.
source "$(dirname "$0")/common.bash"
[ -n "${SYM_CAUGHT:-}" ] || exit 77
source_file="$SYM_SOURCE_DIR/tests/caught/missing_entry_barrier.cpp"
write_line=$(grep -n 'block.transform(in, mine' "$source_file" | cut -d: -f1)
read_line=$(grep -n 'block.reduce(out, in' "$source_file" | cut -d: -f1)

planted() { # SCHEDULE SEED
  try 1 "$SYM_CAUGHT" run missing_entry_barrier --backend check --pes 3 --bytes 4K --schedule "$1" --seed "$2"
  says "RACE"
  says "missing_entry_barrier.cpp:$write_line"
  says "missing_entry_barrier.cpp:$read_line"
  silent_about "WRONG"
  says " replay "
}
for seed in $(seq 1 50); do planted random "$seed"; done
planted fifo 1
planted worst 1

awk '/^RACE/ { on = 1 } /^  replay / { on = 0 } on' out >finding
command=$(sed -n 's/^  replay //p' out)
[ -s finding ] && [ -n "$command" ] || fail "no finding, or no replay command"
# shellcheck disable=SC2086  # the printed command, as one would paste it
try 1 $command
says "the same finding, word for word"
sed '/^#/d' out | cmp -s - finding || fail "the replay prints another finding"

file=${command##* }
sed 's/"3"/"2"/' "$file" >edited.json
refused "edited" -- "$SYM_CAUGHT" replay edited.json
refused "no replay file" -- "$SYM_CAUGHT" replay "$source_file"

try 0 "$SYM_CAUGHT" run missing_entry_barrier_fixed --backend check --pes 3 --bytes 4K
silent_about RACE
try 0 "$SYM_CAUGHT" run missing_entry_barrier_fixed --backend thread --pes 3 --bytes 4K
try 0 "$SYM_CAUGHT" run all_reduce --backend check --bytes 4K
try 0 "$SYM_CAUGHT" list
says missing_entry_barrier_fixed

# A deadlock and a mismatch of the command are replayed as well.
for inject in skip=1 count=1; do
  try 1 "$SYM" run all_reduce --backend check --pes 3 --bytes 4K --inject $inject --schedule random --seed 3
  try 1 "$SYM" replay "$(sed -n 's/^  replay .* //p' out)"
  says "the same finding, word for word"
done

# PEs go as well where the file says how many of them are a node.
try 1 "$SYM" run all_reduce --backend check --pes 4 --variant hierarchical_ring --inject skip=1 --schedule random --bytes 4K
try 1 "$SYM" replay "$(sed -n 's/^  replay .* //p' out)" --shrink
says "--pes 2"
says "--per-node 2"
finish
