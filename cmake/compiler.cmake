# Compiler launcher, sanitizers, warnings, and the options that fix what numbers mean.

find_program(SYM_CCACHE ccache)
mark_as_advanced(SYM_CCACHE)
if(SYM_CCACHE)
  foreach(language CXX CUDA)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${SYM_CCACHE})
    endif()
  endforeach()
endif()
sym_report(ccache "${SYM_CCACHE}" "${SYM_CCACHE}" "rebuilds take longer (package ccache)")

# a*b+c is one rounding or two by the source's word, never by the compiler's choice.
set(SYM_NUMERIC_OPTIONS
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
    $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>)

# Kernels under the checker run on small stacks: a large frame must meet the guard below them, and not
# step over it. So whoever compiles a kernel needs this.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-fstack-clash-protection SYM_HAVE_STACK_CLASH_PROTECTION)
set(SYM_STACK_OPTIONS "")
if(SYM_HAVE_STACK_CLASH_PROTECTION)
  set(SYM_STACK_OPTIONS $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-fstack-clash-protection>)
endif()

# Half the time to compile, for code whose speed is nobody's business. Not -O0: ptxas takes longer.
# SYM_QUICK_CUDA besides stamps fewer kernels: sym_instances (experiments/CMakeLists.txt) and few_kernels
# (tests/conformance/harness.hpp) say which. Other builds, and the night's, have all.
set(SYM_QUICK_CUDA_OPTIONS $<$<COMPILE_LANGUAGE:CUDA>:-Xcicc=-O1> $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-O1>)
if(SYM_QUICK_CUDA)
  add_compile_options(${SYM_QUICK_CUDA_OPTIONS})
endif()

if(SYM_SANITIZE)
  add_compile_options(-fsanitize=${SYM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SYM_SANITIZE})
endif()

set(CMAKE_COMPILE_WARNING_AS_ERROR ${SYM_WERROR})
add_library(sym_warnings INTERFACE)

# Several sources as one, in a third of the time: what GCC then says of a header's types is said of types
# that belong to a source alone, and a name of one source hides that of another.
if(SYM_BATCHES)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${SYM_BATCHES})
  target_compile_options(sym_warnings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  # For what CI compiles once and runs for moments. The engine, which the tests run for minutes, is quicker
  # by a fifth at -O1.
  set(SYM_STAMP_OPTIONS $<$<AND:$<NOT:$<CONFIG:Release>>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Og>)
endif()
target_compile_options(sym_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow>
  # GCC 12 warns of overlapping copies inside std::string's operator+ (GCC bug 105651).
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # nvcc writes line markers that -Wpedantic dislikes, and its host pass sees code that -Wconversion
  # has seen in the C++ build.
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
  # "template parameter is not used": said of []<class T>() { ... }, which is called with its type.
  $<$<COMPILE_LANGUAGE:CUDA>:-diag-suppress=445>)
