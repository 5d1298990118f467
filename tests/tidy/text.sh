#!/usr/bin/env bash
# Rules about text: what core/ must not say, how long a file may be, and what must not be committed.
source "$(dirname "$0")/common.sh"
mapfile -t files < <(code_files)
mapfile -t core < <(printf '%s\n' "${files[@]}" | grep '^core/' || [ $? = 1 ])

# matching PATTERN FILE...: "file:line:text" of every match. No match is no error; a file that cannot
# be read is.
matching() {
  local pattern=$1
  shift
  (($# == 0)) || grep -nHE -e "$pattern" -- "$@" || (($? == 1))
}

# The same on code alone: comments are blanked, lines keep their numbers.
matching_code() {
  local pattern=$1 file
  shift
  for file in "$@"; do
    sed 's|//.*||' "$file" | awk -v file="$file" -v pattern="$pattern" \
      '$0 ~ pattern { print file ":" FNR ":" $0 }'
  done
}

mapfile -t core_but_function < <(printf '%s\n' "${core[@]}" | grep -v '^core/function.hpp$' || [ $? = 1 ])
found=$(matching_code \
  '^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef).*(CUDA|NVCC|HIP|SYCL|SIMGRID|BOOST|NVSHMEM|NCCL|SANITIZE|SYM_HAVE)' \
  "${core_but_function[@]}")
report "core has no backend conditionals (core/function.hpp alone may)" "$found"
found=$(matching_code \
  '(Thread|Fiber|Check|Sim|Cuda|Network)(Block|World)[^A-Za-z]|sym::(thread|fiber|check|sim|cuda)|cuda[A-Z_]|nccl[A-Z_]|simgrid' \
  "${core_but_function[@]}")
report "core knows no backend's name" "$found"

# An algorithm names ranges. Only Local (a value that the caller gave) holds an address, and only a
# backend turns one into bytes.
found=$(matching_code \
  'reinterpret_cast|const_cast|[.]data[(][)]|[(](void|char|std::byte)( const)?[ ]*[*][)]|std::byte *[*]|void *[*]' \
  "${core[@]}")
report "core holds no raw window pointer" "$found"
mapfile -t algorithms < <(printf '%s\n' "${core[@]}" | grep -E '^core/(collective|moe|gemm)/' || [ $? = 1 ])
found=$(matching_code \
  '(^|[ (<])(T|float|double|bf16|f16|auto)( const)? *[*]( |[a-z]|,|[)])|[A-Za-z0-9_)]->|&[a-z_]+[[]' \
  "${algorithms[@]}")
report "an algorithm names ranges, not pointers" "$found"

# Multicast can put a shared host out of service: never without its own switch.
mapfile -t programs < <(tree_files '*.hpp' '*.cpp' '*.cu' '*.cuh' '*.in' '*.txt' '*.cmake' '*.json')
for file in "${programs[@]}"; do
  grep -q SYM_MULTICAST "$file" && continue
  found=$(matching 'cuMulticast[C]reate|NCCL_NVLS_ENABLE=[1]|lsaMultimem *= *[t]rue' "$file")
  report "multicast is behind SYM_MULTICAST" "$found"
done

# Lengths. Above 200 lines is worth a look; above 400 is a finding.
lengths=$(wc -l "${files[@]}" | awk '$2 != "total" && $1 > 200 { print $1, $2 }' | sort -rn)
report "over 400 lines (is it one room, or several?)" "$(awk '$1 > 400' <<<"$lengths")"
awk '$1 != "" && $1 <= 400 { print "note: " $1 " lines: " $2 }' <<<"$lengths"

# The machine that this was written on, and the input data beside the repository, stay out of it.
mapfile -t all < <(tree_files '*')
found=$(matching '(^|[^A-Za-z0-9_.])/([w]ork|[r]oot|home/[a-z]+)/|[b]ash_jobs|/[t]mp/h[0-9]' "${all[@]}")
report "path of a machine" "$found"
if [ -d ../shared/topo ]; then
  sums=$(sha256sum ../shared/topo/* | cut -d' ' -f1)
  found=$(sha256sum "${all[@]}" | { grep -F "$sums" || (($? == 1)); })
  report "committed copy of shared data (read it from ../shared)" "${found//  / }"
fi
finish text
