# shellcheck shell=bash
# Shared by the rules: where the tree is, its files, and how a finding is said. Sourced, not run.
#
# A rule takes the tree's root as its only argument (default: this checkout) so that self_test.sh can
# aim it at a tree with planted mistakes.
set -euo pipefail
export LC_ALL=C

root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
cd "$root"
findings=0

# The tree's own files whose names match one of the patterns, sorted: what git tracks or would track;
# everything where there is no git.
tree_files() {
  local file pattern
  { if [ -e .git ]; then git ls-files -co --exclude-standard; else find . -type f | sed 's|^\./||'; fi; } | sort |
    while IFS= read -r file; do
      for pattern in "$@"; do
        # shellcheck disable=SC2053  # a pattern is meant
        if [[ $file == $pattern && -f $file ]]; then printf '%s\n' "$file" && break; fi
      done
    done
}

code_files() { tree_files '*.hpp' '*.cpp' '*.cu' '*.cuh' '*.cpp.in'; }

# report RULE LINES: each line is a finding of this rule; no text, no finding. Takes a variable rather
# than a pipe, so that a tool that breaks ends the script instead of looking clean.
report() {
  [ -n "$2" ] || return 0
  sed "s|^|$1: |" <<<"$2"
  findings=$((findings + $(wc -l <<<"$2")))
}

finish() {
  if ((findings > 0)); then
    printf '%s: %d finding(s)\n' "$1" "$findings"
    exit 1
  fi
  printf '%s: clean\n' "$1"
}
