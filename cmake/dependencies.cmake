# Looks for every dependency and reports it. Sets SYM_HAVE_FIBER, _SIMGRID, _CUDA, _JSON, _CLI, _FMT
# and _GTEST. What an option asks for with ON and is not there ends the configuration.

# sym_wanted(OPTION NAME FOUND VERSION OFF_TEXT): settles one AUTO/ON/OFF option into SYM_HAVE_<OPTION>.
function(sym_wanted option name found version off_text)
  if(SYM_${option} STREQUAL OFF)
    set(found FALSE)
    set(off_text "SYM_${option} is OFF")
  elseif(NOT found AND NOT SYM_${option} STREQUAL AUTO)
    message(FATAL_ERROR "SYM_${option} is ${SYM_${option}}, but: ${off_text}")
  endif()
  sym_report("${name}" "${found}" "${version}" "${off_text}")
  if(found)
    set(SYM_HAVE_${option} TRUE PARENT_SCOPE)
  else()
    set(SYM_HAVE_${option} FALSE PARENT_SCOPE)
  endif()
endfunction()

# sym_header_library(KEY TARGET HEADER PACKAGE OFF_TEXT VERSION_REGEX VERSION_HEADER...): a header-only
# library from its package or from SYM_DEPS_INCLUDE, as an imported target, so that its own warnings
# are not ours. The version is what the regex finds in the first of the headers that has it.
function(sym_header_library key target header package off_text version_regex)
  find_path(SYM_${key}_INCLUDE ${header} HINTS ${SYM_DEPS_INCLUDE})
  mark_as_advanced(SYM_${key}_INCLUDE)
  string(REGEX REPLACE "::.*" "" name ${target})
  if(NOT SYM_${key}_INCLUDE)
    set(SYM_HAVE_${key} FALSE PARENT_SCOPE)
    sym_report(${name} FALSE "" "${off_text} (package ${package}, or SYM_DEPS_INCLUDE)")
    return()
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${SYM_${key}_INCLUDE})
  set(version "")
  foreach(version_header IN LISTS ARGN)
    if(NOT version AND EXISTS ${SYM_${key}_INCLUDE}/${version_header})
      file(STRINGS ${SYM_${key}_INCLUDE}/${version_header} lines REGEX "${version_regex}")
      string(REGEX MATCHALL " [0-9]+" numbers "${lines}")
      list(JOIN numbers "." version)
      string(REPLACE " " "" version "${version}")
    endif()
  endforeach()
  set(SYM_HAVE_${key} TRUE PARENT_SCOPE)
  sym_report(${name} TRUE "${version} (${SYM_${key}_INCLUDE})" "")
endfunction()

# --- Threads, always -------------------------------------------------------------------------------
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# --- Boost.Context: the fibre engine ---------------------------------------------------------------
if(NOT SYM_FIBER STREQUAL OFF)
  find_package(Boost 1.74 QUIET COMPONENTS context)
endif()
sym_wanted(FIBER Boost.Context "${Boost_CONTEXT_FOUND}" "${Boost_VERSION_STRING}"
           "no backends check and sim (package libboost-context-dev)")

# --- mimalloc: the checker allocates for each access -----------------------------------------------
if(SYM_HAVE_FIBER AND NOT SYM_SANITIZE)
  find_package(mimalloc 2 QUIET CONFIG)
  sym_report(mimalloc "${mimalloc_FOUND}" "${mimalloc_VERSION}"
             "check of many blocks takes longer (package libmimalloc-dev)")
endif()

# --- SimGrid: one of the simulator's two network engines -------------------------------------------
if(SYM_HAVE_FIBER AND NOT SYM_SIMGRID STREQUAL OFF)
  find_package(SimGrid 3.32 QUIET)
endif()
sym_wanted(SIMGRID SimGrid "${SimGrid_FOUND}" "${SimGrid_VERSION}"
           "sim has --network ports only (package libsimgrid-dev, 3.32 or later)")

# --- CUDA and NCCL ---------------------------------------------------------------------------------
set(cuda_off "no CUDA toolkit")
set(cuda_found FALSE)
if(NOT SYM_CUDA STREQUAL OFF)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND AND CUDAToolkit_VERSION VERSION_LESS 12.4)
    set(cuda_off "toolkit ${CUDAToolkit_VERSION}")
  elseif(CUDAToolkit_FOUND)
    find_package(NCCL 2.28 QUIET)
    if(NCCL_FOUND)
      if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
      endif()
      if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU generations to compile for")
      endif()
      include(CheckLanguage)
      check_language(CUDA)
      if(CMAKE_CUDA_COMPILER)
        enable_language(CUDA)
        if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 does not know that nvcc has it
          set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
        endif()
        set(CMAKE_CUDA_STANDARD 20)
        set(CMAKE_CUDA_STANDARD_REQUIRED ON)
        set(CMAKE_CUDA_EXTENSIONS OFF)
        if(NOT CMAKE_CXX_FLAGS_RELWITHDEBINFO MATCHES NDEBUG)  # assertions are on in both or in none
          string(REPLACE -DNDEBUG "" CMAKE_CUDA_FLAGS_RELWITHDEBINFO "${CMAKE_CUDA_FLAGS_RELWITHDEBINFO}")
        endif()
        set(cuda_found TRUE)
      else()
        set(cuda_off "toolkit ${CUDAToolkit_VERSION} does not work with this host compiler")
      endif()
    elseif(NCCL_VERSION)
      set(cuda_off "NCCL ${NCCL_VERSION} in ${NCCL_INCLUDE_DIR}")
    else()
      set(cuda_off "toolkit ${CUDAToolkit_VERSION}, but no NCCL")
    endif()
  endif()
endif()
sym_wanted(CUDA "CUDA, NCCL" ${cuda_found}
           "${CUDAToolkit_VERSION} for sm_${CMAKE_CUDA_ARCHITECTURES}, NCCL ${NCCL_VERSION} (${NCCL_LIBRARY})"
           "no backend cuda: ${cuda_off} (it needs a toolkit from 12.4 and NCCL from 2.28: NCCL_ROOT names a place)")

set(SYM_FOUND_CUDA ${SYM_HAVE_CUDA} CACHE INTERNAL "for tests/run.sh")

if(SYM_HAVE_CUDA)
  find_package(CublasLt 12 QUIET)
  sym_report(cuBLASLt "${CublasLt_FOUND}" "${CublasLt_VERSION} (${CublasLt_LIBRARY})"
             "no gemm on cuda (part of the CUDA toolkit: CublasLt_ROOT names a place)")
endif()

# --- Header-only helpers of models/ and of the command -------------------------------------------
sym_header_library(JSON nlohmann_json::nlohmann_json nlohmann/json.hpp nlohmann-json3-dev
  "no machine files, so no backend sim and no command sym; no files of findings, no replays"
  "define NLOHMANN_JSON_VERSION_(MAJOR|MINOR|PATCH) " nlohmann/json.hpp nlohmann/detail/abi_macros.hpp)
sym_header_library(CLI CLI11::CLI11 CLI/CLI.hpp libcli11-dev
  "no command sym" "define CLI11_VERSION_(MAJOR|MINOR|PATCH) " CLI/Version.hpp)
sym_header_library(FMT fmt::header_only fmt/format.h libfmt-dev
  "no command sym" "define FMT_VERSION " fmt/base.h fmt/core.h)
if(SYM_HAVE_FMT)
  target_compile_definitions(fmt::header_only INTERFACE FMT_HEADER_ONLY)
endif()

# --- XML of NCCL and SimGrid as machines ----------------------------------------------------------
find_package(pugixml QUIET CONFIG)
sym_report(pugixml "${pugixml_FOUND}" "${pugixml_VERSION}"
           "no machines from XML files of NCCL and SimGrid (package libpugixml-dev)")

# --- Matrix products on CPUs ---------------------------------------------------------------------
find_package(Eigen3 3.4 QUIET NO_MODULE)
sym_report(Eigen "${Eigen3_FOUND}" "${Eigen3_VERSION}"
           "no gemm on thread, check and sim with data, and fewer tests (package libeigen3-dev)")

# --- Tests and benchmarks ------------------------------------------------------------------------
if(BUILD_TESTING)
  if(SYM_GTEST_SOURCE)
    set(INSTALL_GTEST OFF)
    add_subdirectory(${SYM_GTEST_SOURCE} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
    set(GTest_FOUND TRUE)
    set(GTest_VERSION "from ${SYM_GTEST_SOURCE}")
  else()
    find_package(GTest 1.11 QUIET CONFIG)
  endif()
  set(SYM_HAVE_GTEST ${GTest_FOUND})
  sym_report(GoogleTest "${GTest_FOUND}" "${GTest_VERSION}"
             "no tests but tidy's (packages libgtest-dev libgmock-dev, or SYM_GTEST_SOURCE)")
  find_package(benchmark QUIET CONFIG)
  sym_report("Google Benchmark" "${benchmark_FOUND}" "${benchmark_VERSION}"
             "no *_bench programs (package libbenchmark-dev)")
endif()
