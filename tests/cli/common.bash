# What the scripts of this folder share. SYM is the command; each script works in a folder of its own.
set -u
export LC_ALL=C
: "${SYM:?set SYM to the sym program}"
: "${SYM_SOURCE_DIR:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
cases=0

fail() {
  printf 'FAIL: %s\n' "$1"
  sed 's/^/    /' out err 2>/dev/null | head -30
  failures=$((failures + 1))
}

# try STATUS COMMAND...: runs it, output in the files out and err.
try() {
  local wanted=$1 status
  shift
  cases=$((cases + 1))
  what="${*##*/}"
  "$@" >out 2>err
  status=$?
  [ "$status" = "$wanted" ] || fail "exit $status, expected $wanted: $what"
}
says() { grep -qF -- "$1" out err || fail "'$1' is not said by: $what"; }
silent_about() { ! grep -qF -- "$1" out err || fail "'$1' is said by: $what"; }

# refused WORDS... -- COMMAND...: bad usage: exit 2, nothing on stdout but one line on stderr with these words.
refused() {
  local words=()
  while [ "$1" != -- ]; do
    words+=("$1")
    shift
  done
  shift
  try 2 "$@"
  [ "$(wc -l <err)" = 1 ] || fail "not one line on stderr: $what"
  for word in "${words[@]}"; do grep -qF -- "$word" err || fail "'$word' is not said by: $what"; done
}

# csv COLUMN FILE: that column of every row.
csv() {
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) c = i; next } { print $c }' "$2"
}
# within PERCENT A B
within() { awk -v p="$1" -v a="$2" -v b="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a > 0 && b > 0 && d <= p / 100 * a) }'; }

finish() {
  if [ "$failures" -gt 0 ]; then
    echo "$failures of $cases cases failed"
    exit 1
  fi
  echo "$cases cases"
  exit 0
}
