# For users: a kernel under the checker, in one line.

# sym_add_checked_kernel(NAME SOURCE... [PES N...] [SEEDS N] [EXHAUSTIVE_PES N...] [LINK TARGET...]
# [ARGUMENTS ARGUMENT...]): the program NAME, whose main() calls sym::check::check_main
# (backends/check/user.hpp), and its tests, with the label "check":
#   check.NAME.worst       the worst legal order, for each of PES (2 3)
#   check.NAME.random      SEEDS (20) random orders of each
#   check.NAME.pct         as many orders with random priorities
#   check.NAME.exhaustive  every order, in worlds of EXHAUSTIVE_PES; for programs of a few verbs
# ARGUMENTS are given to each run. Tests are registered where enable_testing() has been called.
function(sym_add_checked_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SEEDS;TIMEOUT" "PES;EXHAUSTIVE_PES;LINK;ARGUMENTS")
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sym_add_checked_kernel(${name}): which sources?")
  endif()
  if(NOT TARGET symposium::check)
    message(FATAL_ERROR "sym_add_checked_kernel(${name}): this build of Symposium has no checker, "
                        "because Boost.Context was not found (package libboost-context-dev)")
  endif()
  foreach(default "SEEDS;20" "TIMEOUT;120" "PES;2;3")
    list(POP_FRONT default key)
    if(NOT arg_${key})
      set(arg_${key} ${default})
    endif()
  endforeach()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE symposium::check ${arg_LINK})
  # Findings name files from the project's folder: the same on every machine, and what CI can mark.
  target_compile_options(${name} PRIVATE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
  list(JOIN arg_PES "," pes)
  list(JOIN arg_EXHAUSTIVE_PES "," exhaustive)
  set(worst --pes ${pes} --schedule worst,fifo)
  set(random --pes ${pes} --schedule random --runs ${arg_SEEDS})
  set(pct --pes ${pes} --schedule pct --runs ${arg_SEEDS})
  set(schedules worst random pct)
  if(exhaustive)
    set(exhaustive --pes ${exhaustive} --schedule exhaustive)
    list(APPEND schedules exhaustive)
  endif()
  foreach(schedule IN LISTS schedules)
    add_test(NAME check.${name}.${schedule} COMMAND ${name} ${${schedule}} ${arg_ARGUMENTS})
    set_tests_properties(check.${name}.${schedule} PROPERTIES LABELS check TIMEOUT ${arg_TIMEOUT})
  endforeach()
endfunction()
