#!/usr/bin/env bash
# The rules themselves: a clean tree passes, and each planted mistake is reported by name and place.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
failed=0

plant() { # plant FILE TEXT
  mkdir -p "$(dirname "$tree/$1")"
  printf '%s\n' "$2" >"$tree/$1"
}

clean_tree() {
  rm -rf "$scratch/shared" "$tree"
  plant core/range.hpp '#include <cstddef>'
  plant core/function.hpp '#if defined(__CUDACC__)'
  plant core/collective/ring.hpp '#include "core/range.hpp"  // ThreadBlock, x.data(), a -> b'
  plant backends/fiber/engine.hpp '#include <boost/context/fiber.hpp>'
  plant backends/check/adversary.cpp '#include "backends/fiber/engine.hpp"'
  plant sim/simgrid_network.cpp '#include <simgrid/s4u.hpp>'
  plant experiments/sym/main.cpp '#include "sim/../core/range.hpp"'
  mkdir -p "$scratch/shared/topo"
  printf 'GPU0 X\n' >"$scratch/shared/topo/a.txt"
}

expect() { # expect RULE STATUS TEXT: the rule's exit status and a part of what it prints
  local status=0 output
  output=$(bash "$here/$1.sh" "$tree" 2>&1) || status=$?
  if [ "$status" != "$2" ] || [[ $output != *"$3"* ]]; then
    printf 'FAILED: %s gave status %s, expected %s and "%s"; it printed:\n%s\n' "$1" "$status" "$2" "$3" "$output"
    failed=$((failed + 1))
  fi
}

mistake() { # mistake RULE FILE TEXT EXPECTED
  clean_tree
  plant "$2" "$3"
  expect "$1" 1 "$4"
}

clean_tree
expect layers 0 "layers: clean"
expect text 0 "text: clean"

mistake layers core/window.hpp '#include "backends/fiber/engine.hpp"' "core must not include backends/fiber"
mistake layers core/window.hpp '#include <unistd.h>' "core/window.hpp:1: core uses the standard library only"
mistake layers backends/thread/world.cpp '#include "backends/fiber/engine.hpp"' "backends/thread must not include backends/fiber"
mistake layers backends/cuda/world.cpp '#include "sim/network.hpp"' "is no file of this tree"
mistake layers models/machine.cpp '#include "backends/check/adversary.cpp"' "models must not include backends/check"
mistake layers backends/check/shadow.cpp '#include <boost/intrusive/list.hpp>' "<boost/intrusive/list.hpp> may appear only in"
mistake layers sim/engine.cpp '#include <simgrid/s4u.hpp>' "<simgrid/s4u.hpp> may appear only in"
mistake layers experiments/sym/run.cpp '#include <cuda_runtime.h>' "<cuda_runtime.h> may appear only in"
mistake layers tests/unit/a_test.cpp '#include <nccl.h>' "<nccl.h> may appear only in"
mistake layers sim/cost.cpp '#include <gtest/gtest.h>' "<gtest/gtest.h> may appear only in"

mistake text core/window.hpp '#ifdef __CUDA_ARCH__' "core has no backend conditionals"
mistake text core/window.hpp '  using B = cuda::CudaBlock;' "core knows no backend's name"
mistake text core/window.hpp '  auto* p = reinterpret_cast<T*>(base);' "core holds no raw window pointer: core/window.hpp:1"
mistake text core/collective/ring.hpp '  T* p = local.data;' "an algorithm names ranges, not pointers"
mistake text backends/cuda/heap.cu 'cuMulticast''Create(&handle, &prop);' "multicast is behind SYM_MULTICAST: backends/cuda/heap.cu:1"
mistake text sim/long.cpp "$(yes '// line' | head -401)" "over 400 lines (is it one room, or several?): 401 sim/long.cpp"
mistake text docs/guide.md "see /""work/main/README.md" "path of a machine: docs/guide.md:1"
mistake text tests/golden/topology.txt 'GPU0 X' "committed copy of shared data"

excerpt=$'<!-- from core/range.hpp -->\n```cpp\n#include <cstdint>\n```'
mistake excerpts docs/guide/a.md "$excerpt" "excerpts: docs/guide/a.md:2: not what core/range.hpp says"
mistake excerpts docs/guide/a.md "${excerpt/range/no}" "core/no.hpp is no file"
clean_tree
plant docs/guide/a.md "${excerpt/cstdint/cstddef}"
expect excerpts 0 "excerpts: clean"

if command -v clang-format-14 >/dev/null; then
  mistake format core/window.hpp 'int  x;' "format: core/window.hpp"
fi

if ((failed > 0)); then
  echo "self_test: $failed rule(s) do not see what they should"
  exit 1
fi
echo "self_test: every rule sees its planted mistake"
