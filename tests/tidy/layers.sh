#!/usr/bin/env bash
# Who may include whom (design, section 3), and where the types of other libraries may appear.
source "$(dirname "$0")/common.sh"

# Our own folders: layer, then the layers that it may include besides itself.
allowed='
core
models            core
backends/host     core
backends/report   core
backends/thread   core backends/host
backends/fiber    core backends/host
backends/check    core backends/host backends/fiber backends/report
backends/cuda     core
backends/ibgda    core backends/cuda
sim               core backends/host backends/fiber backends/check models
experiments       core backends models sim
tests             core backends models sim experiments
'

# Other libraries: what an include looks like, then the files that may hold it (both awk patterns).
libraries='
^(simgrid|xbt)/                                             (^sim/simgrid_network[^/]*|^experiments/sim_cost/plain_simgrid)[.]cpp$
^boost/                                                     ^backends/fiber/
^(cuda|cublas|cooperative_groups|nv|nvtx3|nccl|cub|thrust)  ^backends/(cuda|ibgda)/|^(experiments|tests)/.*[.]cuh?$
^nvshmem                                                    ^backends/ibgda/
^pugixml                                                    ^models/
^nlohmann/                                                  ^(models|sim|experiments|tests|backends/report)/
^(CLI|fmt)/                                                 ^experiments/
^Eigen/                                                     ^(experiments|tests|backends/host)/
^(gtest|gmock)/                                             ^tests/|^backends/check/gtest[.]hpp$
^benchmark/                                                 _bench[.]cpp$
'

check() {
  awk -v allowed="$allowed" -v libraries="$libraries" '
    function layer_of(path,   parts) {
      split(path, parts, "/")
      return parts[1] == "backends" ? parts[1] "/" parts[2] : parts[1]
    }
    function say(text) { print FILENAME ":" FNR ": " text }
    function exists(path,   line, found) {
      found = (getline line < path) >= 0
      close(path)
      return found
    }
    BEGIN {
      rows = split(allowed, row, "\n")
      for (i = 1; i <= rows; ++i) {
        words = split(row[i], word, " +")
        for (j = 1; j <= words; ++j) may[word[1], word[j]] = 1
      }
      rows = split(libraries, row, "\n")
      for (i = 1; i <= rows; ++i)
        if (split(row[i], word, " +") == 2) { ++n; include[n] = word[1]; place[n] = word[2] }
    }
    FNR == 1 { layer = layer_of(FILENAME); folder = FILENAME; sub("[^/]*$", "", folder) }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
      split($0, quoted, "\"")
      name = quoted[2]
      if (name == "sym_build.hpp" || name ~ /@/) next  # generated, or completed, by CMake
      target = exists(folder name) ? folder name : name
      if (!exists(target)) { say("\"" name "\" is no file of this tree"); next }
      other = layer_of(target)
      group = other
      sub("/.*", "", group)
      if (other != layer && !((layer, other) in may) && !((layer, group) in may))
        say(layer " must not include " other " (\"" name "\")")
    }
    /^[ \t]*#[ \t]*include[ \t]*</ {
      split($0, angled, "[<>]")
      name = angled[2]
      if (layer == "core" && name !~ /^[a-z0-9_]+$/ && !(FILENAME == "core/function.hpp" && name ~ /^cuda\/std\//))
        say("core uses the standard library only (<" name ">)")
      for (i = 1; i <= n; ++i)
        if (name ~ include[i] && FILENAME !~ place[i])
          say("<" name "> may appear only in " place[i])
    }' "$@"
}

mapfile -t files < <(code_files)
found=$(check "${files[@]}")
report layers "$found"
finish layers
