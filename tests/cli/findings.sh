#!/usr/bin/env bash
# What the command makes of many runs: each finding once, in files for machines, suppressed with a
# reason; chances, budgets, and a replay that gets small.
source "$(dirname "$0")/common.bash"
[ -n "${SYM_CAUGHT:-}" ] || exit 77
check=("$SYM_CAUGHT" run all_reduce --backend check --pes 4 --bytes 1K)

# A hang in each of ten runs: told once, with a count and a verdict.
try 1 "${check[@]}" --variant two_shot --inject skip=2 --schedule random --runs 10 \
  --findings found.jsonl --sarif found.sarif
[ "$(grep -c '^DEADLOCK' out)" = 1 ] || fail "the deadlock is not told once"
says "  verdict stale epoch: PE 2 has begun no launch, and this is launch 1 here"
says "seen in 10 of 10 runs, first at seed 1"
silent_about "../"
[ "$(grep -c FAILED out)" = 2 ] || fail "not one row and one line that failed"
replay=$(sed -n 's/^  replay .* //p' out)

if command -v python3 >/dev/null; then
  cat >validate.py <<'PY'
import json, os, sys
lines = [json.loads(line) for line in open("found.jsonl")]
assert len(lines) == 1, lines
one = lines[0]
assert one["kind"] == "deadlock" and one["verdict"] == "stale epoch", one
assert one["seen"] == 10 and one["runs"] == 10 and one["seed"] == 1, one
assert os.path.exists(one["replay"]), one
sarif = json.load(open("found.sarif"))
assert sarif["version"] == "2.1.0" and "sarif-2.1.0" in sarif["$schema"]
run, = sarif["runs"]
rules = run["tool"]["driver"]["rules"]
assert [rule["id"] for rule in rules] == ["deadlock"]
result, = run["results"]
assert rules[result["ruleIndex"]]["id"] == result["ruleId"] and result["level"] == "error"
assert result["occurrenceCount"] == 10 and result["message"]["text"].startswith("stale epoch: ")
assert "Fix: " in result["message"]["text"]
assert result["partialFingerprints"] and "suppressions" not in result
for location in result["locations"] + result["relatedLocations"]:
    place = location["physicalLocation"]
    path = os.path.join(sys.argv[1], place["artifactLocation"]["uri"])
    with open(path) as source:  # relative to the tree, and the line is there
        assert 1 <= place["region"]["startLine"] <= len(source.readlines())
assert len(result["locations"]) == 1
PY
  try 0 python3 validate.py "$SYM_SOURCE_DIR"
fi

# Accepted with a reason: counted, printed, and no failure. Entries that match nothing are told.
hang=(--variant two_shot --inject skip=2)
cat >accepted <<'TXT'
# what we know of
deadlock core/collective/*.hpp   PE 2 is left out on purpose
race     ring.hpp:1              nobody has ever seen it
TXT
try 1 "${check[@]}" "${hang[@]}" --suppress accepted --sarif accepted.sarif
says "# suppressed: deadlock (stale epoch) at core/collective/"
says "accepted:2: PE 2 is left out on purpose"
says "accepted:2 (deadlock core/collective/*.hpp) matched 1 finding"
says "accepted:3 (race ring.hpp:1) matched nothing"
silent_about "DEADLOCK"
# It ended the run, and what never ran is not accepted.
says "INCOMPLETE ended early by a suppressed finding, deadlock (stale epoch) at core/collective/"
grep -q '"justification": "PE 2 is left out on purpose"' accepted.sarif || fail "no justification"
echo 'race missing_entry_barrier.cpp looked at' >race
try 0 "$SYM_CAUGHT" run missing_entry_barrier --pes 3 --bytes 4K --suppress race
says "race:1 (race missing_entry_barrier.cpp) matched"
silent_about "INCOMPLETE"
refused "cannot read ." -- "${check[@]}" --suppress .
echo 'deadlock barrier.hpp' >no_reason
refused "no_reason:1" "reason" -- "${check[@]}" --suppress no_reason
echo 'deadlock barrier.hpp:x because' >no_line
refused "no_line:1" "line number" -- "${check[@]}" --suppress no_line
echo 'races barrier.hpp because' >no_kind
refused "no_kind:1" "unknown kind 'races'" "'race'" -- "${check[@]}" --suppress no_kind
# Every kind that any backend finds can be accepted: named in the sources, and those made of parts.
sed -n 's/^.*kind = "\([a-z-]*\)";.*/\1/p; s/^.*{"\([a-z-]*\)", *"[A-Z][A-Z ]* .*/\1/p; s/^.*{"\([a-z-]*\)",$/\1/p' \
  "$SYM_SOURCE_DIR"/backends/{fiber,check}/*.cpp | grep -v -e '^--' -e '^host$' | sort -u | sed 's/$/ nowhere.hpp because/' >all_kinds
[ "$(wc -l <all_kinds)" -ge 12 ] || fail "the kinds are not read from the sources"
for kind in '*' race missing-sync bad-pointer wrong-data abort; do echo "$kind nowhere.hpp because" >>all_kinds; done
try 0 "$SYM_CAUGHT" run all_reduce --pes 2 --bytes 64 --suppress all_kinds
refused "cannot read" -- "${check[@]}" --suppress nowhere
refused "cannot write" -- "${check[@]}" --sarif nowhere/at.sarif

# Replays: the same words again; smaller, and still replayed; other formats refused.
try 1 "$SYM_CAUGHT" replay "$replay"
says "the same finding, word for word"
try 1 "$SYM_CAUGHT" replay "$replay" --shrink --out small.json
says "DEADLOCK"
says "--iterations 1"
[ "$(grep -c '|' out)" -le 20 ] || fail "more than 20 lines side by side"
[ "$(grep -c '|' out)" -ge 3 ] || fail "nothing side by side"
try 1 "$SYM_CAUGHT" replay small.json
says "the same finding, word for word"
sed 's/symposium replay 3/symposium replay 2/' small.json >old.json
refused "symposium replay 2" "symposium replay 3" -- "$SYM_CAUGHT" replay old.json

# A race gets as small as it can be: two PEs and one element.
try 1 "$SYM_CAUGHT" run missing_entry_barrier --pes 5 --bytes 4K --dtype f32 --schedule random
try 1 "$SYM_CAUGHT" replay "$(sed -n 's/^  replay .* //p' out)" --shrink
says "--pes 2"
says "--bytes 4"
says "> "

# Chances and budgets.
try 0 "${check[@]}" --variant ring --schedule pct --depth 3 --runs 20
says "d = 3: a run finds a bug of depth 3 with a chance of 1/(n k^(d-1)) = "
says "all 20 runs"
says "core/collective/ring.hpp:"  # a clean run names its op sites
try 1 "${check[@]}" --variant ring --budget 50
says "INCOMPLETE"
try 0 "$SYM_CAUGHT" run all_reduce --pes 2 --bytes 64 --blocks 1 --iterations 1 --schedule exhaustive
says "exhaustive: 1 execution, no bound on preemptions, complete: every other order of verbs and of whole transfers"
# As many runs as one likes: none of them takes memory before it runs.
limited=(bash -c 'ulimit -v 2000000 && exec "$@"' limited)
if "${limited[@]}" "$SYM_CAUGHT" list >out 2>&1; then  # not with sanitizers, which take more
  try 124 "${limited[@]}" timeout 2 "${check[@]}" --variant ring --schedule random --runs 1000000000
fi
refused "--depth" "pct" -- "${check[@]}" --depth 3
refused "a depth is at least 1 and at most 1000" -- "${check[@]}" --schedule pct --depth 1000000000
refused "--bound" "exhaustive" -- "${check[@]}" --bound 2 --schedule pct
refused "--runs" "random or pct" -- "${check[@]}" --runs 3
refused "unknown schedule 'exhaustiv'" "'exhaustive'" -- "${check[@]}" --schedule exhaustiv
refused "--out" "--shrink" -- "$SYM_CAUGHT" replay small.json --out other.json
finish
