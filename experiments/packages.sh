#!/usr/bin/env bash
# Sees to it that what the build needs is there, and installs what is not (Debian, Ubuntu).
#
#   experiments/packages.sh GROUP...     GROUP: build | plot | test
#
# Looks for the things themselves (a program, a library that links), not for package names: so it
# needs no network, and no particular distribution, where everything is there already. As root or
# through sudo otherwise. Exit status 3: something required is missing and cannot be installed here.
set -euo pipefail

# group | required or optional | kind of test | what is tested | Debian package
table='
build required program g++                                g++
build required program cmake                              cmake
build required program ninja                              ninja-build
build required program git                                git
build required library boost_context:boost/version.hpp    libboost-context-dev
build required header  CLI/CLI.hpp                        libcli11-dev
build required header  nlohmann/json.hpp                  nlohmann-json3-dev
build required header  fmt/format.h                       libfmt-dev
build optional library mimalloc:mimalloc.h              libmimalloc-dev
build optional library simgrid:simgrid/s4u.hpp            libsimgrid-dev
build optional library pugixml:pugixml.hpp                libpugixml-dev
plot  optional program gnuplot                            gnuplot-nox
test  required library gtest:gtest/gtest.h                libgtest-dev
test  required library gmock:gmock/gmock.h                libgmock-dev
test  optional library benchmark:benchmark/benchmark.h    libbenchmark-dev
test  optional header  eigen3/Eigen/Core                  libeigen3-dev
test  optional program clang-format-14                    clang-format-14
test  optional program clang-tidy-14                      clang-tidy-14
test  optional program ccache                             ccache
'

have_header() {
  printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | g++ -E -x c++ - >/dev/null 2>&1
}

have() { # have KIND WHAT
  case $1 in
    program) command -v "$2" >/dev/null ;;
    header) have_header "$2" ;;
    library) have_header "${2#*:}" &&
      echo 'int main() {}' | g++ -x c++ - "-l${2%%:*}" -o "$scratch/linked" >/dev/null 2>&1 ;;
  esac
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
missing() { # prints "required|optional package" for what is not there
  local group need kind what package
  while read -r group need kind what package; do
    [[ " $groups " == *" $group "* ]] || continue
    have "$kind" "$what" || echo "$need $package"
  done < <(grep . <<<"$table")
}

groups="$*"
wanted=$(missing)
if [ -z "$wanted" ]; then
  echo "packages: everything is here ($groups)"
  exit 0
fi
echo "packages: missing: $(cut -d' ' -f2 <<<"$wanted" | xargs)"

# Without a required one there is nothing to build; without an optional one something is switched off.
give_up() {
  local required
  required=$(awk '$1 == "required" { print $2 }' <<<"$wanted" | xargs)
  echo "packages: $1" >&2
  if [ -z "$required" ]; then
    echo "packages: going on without them" >&2
    exit 0
  fi
  echo "packages: please install by hand: $required" >&2
  exit 3
}

command -v apt-get >/dev/null ||
  give_up "this is not Debian or Ubuntu (no apt-get), so nothing was installed"
root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || give_up "installing needs root or sudo"
  root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
echo "packages: apt-get update"
"${root[@]}" apt-get update -qq || give_up "apt-get update failed (no network?)"

# A distribution may not have an optional one: then the build reports what is switched off.
install=()
while read -r need package; do
  candidate=$(apt-cache policy "$package" | awk '/Candidate:/ { print $2 }')
  if [ "${candidate:-(none)}" != "(none)" ]; then
    install+=("$package")
  elif [ "$need" = required ]; then
    give_up "this distribution has no package $package (on Ubuntu: is the component universe on?)"
  else
    echo "packages: this distribution has no $package, going on without it"
  fi
done <<<"$wanted"
if [ ${#install[@]} -gt 0 ]; then
  echo "packages: apt-get install ${install[*]}"
  "${root[@]}" apt-get install -y -qq --no-install-recommends "${install[@]}" >"$scratch/apt.log" 2>&1 ||
    { tail -n 20 "$scratch/apt.log" >&2; give_up "apt-get install failed"; }
fi
wanted=$(missing)
[[ $wanted != *required* ]] || give_up "still missing after the installation"
