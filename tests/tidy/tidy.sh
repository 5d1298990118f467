#!/usr/bin/env bash
# clang-tidy over the tree's .cpp files (and the headers that they include), two at a time.
#
#   tests/tidy/tidy.sh [BUILD [--changed]]   BUILD: a configured build folder (default: build/ci);
#                                            --changed: only files that differ from the last commit
# SYM_TIDY_CHECKS: what is looked for (clang-tidy's --checks) in place of what .clang-tidy says.
#
# Not looked at: generated sources (one template many times), tests (GoogleTest's templates take most of
# the time; the headers they test are looked at elsewhere), and .cu files, which clang 14 cannot read with
# a CUDA 13 toolkit.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/ci}" && pwd)
changed=${2:-}
set -- "$here/../.."
source "$here/common.sh"

tool=""
for name in clang-tidy-14 clang-tidy; do
  if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then
    tool=$name
    break
  fi
done
if [ -z "$tool" ]; then
  echo "tidy: not checked, no clang-tidy 14 here (package clang-tidy-14)"
  exit 77
fi

mapfile -t files < <(tree_files '*.cpp' | grep -v '^tests/')
if [ "$changed" = --changed ]; then
  mapfile -t files < <({ git diff --name-only HEAD; git ls-files -o --exclude-standard; } | grep '\.cpp$' | grep -v '^tests/' | sort -u)
fi

# Only what this build compiles: the others have no command line to read them with. Of sources that it
# compiles in batches the batch is looked at, which reads their headers once.
commands=$build/compile_commands.json
mapfile -t batches < <(sed -n 's/^ *"file": "\(.*\/Unity\/.*\)",\{0,1\}$/\1/p' "$commands")
batch_of() {
  [ ${#batches[@]} = 0 ] || grep -lxF "#include \"$PWD/$1\"" "${batches[@]}" || true
}
mapfile -t units < <(for file in "${files[@]}"; do
  if grep -qF "\"file\": \"$PWD/$file\"" "$commands"; then echo "$PWD/$file"; fi
  batch_of "$file"
done | sort -u)
if [ ${#units[@]} = 0 ]; then
  echo "tidy: no file to look at"
  exit 0
fi
# Of batches untrue: that a source is included, that what one source or library names hides another's, and
# that one declared a type where another has one of that name. GCC's -Wshadow looks at libraries.
checks=${SYM_TIDY_CHECKS:+-*,$SYM_TIDY_CHECKS,}-bugprone-suspicious-include,-bugprone-forward-declaration-namespace
arguments=(-p "$build" --quiet "--checks=$checks" --extra-arg=-Wno-shadow)
printf '%s\n' "${units[@]}" | xargs -P 2 -n 1 "$tool" "${arguments[@]}" --extra-arg=-Wno-unknown-warning-option 2>&1 |
  { grep -vE '^[0-9]+ warnings? (generated|treated as error)' || (($? == 1)); }
echo "tidy: clean, ${#units[@]} files or batches of files"
