#!/usr/bin/env bash
# What the guide quotes is what the source says: a code block after a line `<!-- from FILE -->` lies in
# that file word for word. Between blocks of a page nothing need follow.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

lost=""
while IFS= read -r page; do
  while IFS=$'\t' read -r line file block; do
    if [ ! -f "$file" ]; then
      lost+="$page:$line: $file is no file"$'\n'
    elif ! BLOCK=$(printf '%b' "$block") awk '
        BEGIN { RS = "\001"; wanted = ENVIRON["BLOCK"] }
        { exit index($0, wanted) ? 0 : 1 }' "$file"; then
      lost+="$page:$line: not what $file says"$'\n'
    fi
  done < <(awk '
    /^<!-- from [^ ]+ -->$/ { file = $3; next }
    /^```/ && file != "" && !inside { inside = 1; start = NR; block = ""; next }
    /^```/ && inside { printf "%d\t%s\t%s\n", start, file, block; inside = 0; file = ""; next }
    inside { gsub(/\\/, "\\\\&"); block = block (block == "" ? "" : "\\n") $0 }' "$page")
done < <(tree_files '*.md')
report excerpts "${lost%$'\n'}"
finish excerpts
