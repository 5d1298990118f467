# Which build this is: sym_build.hpp defines SYM_VERSION, SYM_BUILD_ID and SYM_SOURCE_ID. Brought up to
# date at each build, not only when configured, so that "-dirty" is true; rewritten only when it changed.
if(CMAKE_SCRIPT_MODE_FILE)
  set(id unknown)
  find_program(git git)
  if(git)
    execute_process(COMMAND ${git} describe --always --dirty WORKING_DIRECTORY ${SOURCE_DIR}
                    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(described)
      set(id ${described})
    endif()
  endif()
  # What the programs are made of, by name and content: no path of this machine and no time.
  set(globs cmake/*.cmake)
  foreach(folder core backends models sim experiments tests/caught)
    foreach(extension cpp hpp in cu cuh json txt)
      list(APPEND globs ${folder}/*.${extension})
    endforeach()
  endforeach()
  list(TRANSFORM globs PREPEND ${SOURCE_DIR}/)
  file(GLOB_RECURSE files RELATIVE ${SOURCE_DIR} ${globs})
  list(FILTER files EXCLUDE REGEX "^experiments/[^/]+/results/")
  list(APPEND files CMakeLists.txt)
  list(SORT files)
  set(all "")
  foreach(file IN LISTS files)
    file(SHA256 ${SOURCE_DIR}/${file} hash)
    string(APPEND all "${file} ${hash}\n")
  endforeach()
  string(SHA256 sources "${all}")
  string(SUBSTRING ${sources} 0 16 sources)
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#pragma once
#define SYM_VERSION "@VERSION@"
#define SYM_BUILD_ID "@id@, @COMPILER@"
#define SYM_SOURCE_ID "sources @sources@, @COMPILER@"
]])
  return()
endif()

set(SYM_BUILD_INCLUDE ${PROJECT_BINARY_DIR}/generated)
add_custom_target(sym_build_id BYPRODUCTS ${SYM_BUILD_INCLUDE}/sym_build.hpp
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D VERSION=${PROJECT_VERSION}
          -D OUTPUT=${SYM_BUILD_INCLUDE}/sym_build.hpp
          -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
          -P ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Build id" VERBATIM)
