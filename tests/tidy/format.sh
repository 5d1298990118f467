#!/usr/bin/env bash
# clang-format 14 over the tree. `--fix` rewrites the files; without it, what differs is a finding.
fix=false
if [ "${1:-}" = --fix ]; then
  fix=true
  shift
fi
source "$(dirname "$0")/common.sh"

# Versions disagree about details: only 14 decides.
format=""
for name in clang-format-14 clang-format; do
  if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then
    format=$name
    break
  fi
done
if [ -z "$format" ]; then
  echo "format: not checked, no clang-format 14 here (package clang-format-14)"
  exit 77
fi
mapfile -t files < <(code_files | grep -v '\.in$')
if $fix; then
  "$format" -i "${files[@]}"
  echo "format: rewritten where needed"
  exit 0
fi
for file in "${files[@]}"; do
  "$format" "$file" | cmp -s - "$file" || report format "$file (tests/tidy/format.sh --fix)"
done
finish format
