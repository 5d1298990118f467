# How every library of the tree is made.

# sym_library(NAME GLOB... [EXCLUDE REGEX...] [LINK TARGET...]): the sources that match; header-only
# if there are none. Warnings are on inside; what is linked is part of the interface.
function(sym_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCLUDE;LINK")
  list(TRANSFORM arg_UNPARSED_ARGUMENTS PREPEND ${PROJECT_SOURCE_DIR}/)
  file(GLOB sources CONFIGURE_DEPENDS ${arg_UNPARSED_ARGUMENTS})
  foreach(pattern IN LISTS arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX ${pattern})
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:sym_warnings>)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${arg_LINK})
  endif()
endfunction()

# sym_public(NAME [INCLUDE DIR...] [OPTIONS OPTION...] [FEATURES FEATURE...]): for the library and everyone who links it.
function(sym_public name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "INCLUDE;OPTIONS;FEATURES")
  get_target_property(type ${name} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL INTERFACE_LIBRARY)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} ${arg_INCLUDE})
  target_compile_options(${name} ${scope} ${arg_OPTIONS})
  target_compile_features(${name} ${scope} ${arg_FEATURES})
endfunction()
