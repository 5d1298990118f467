# The table at the end of configuring: what was looked for, what was found, what is off without it.

# sym_report(NAME FOUND HAVE_TEXT OFF_TEXT): FOUND is a truth value, HAVE_TEXT a version and place,
# OFF_TEXT what is off without it and how to get it. No semicolons in either.
function(sym_report name found have_text off_text)
  if(found)
    set(mark "found")
    set(text "${have_text}")
  else()
    set(mark "off")
    set(text "${off_text}")
  endif()
  string(LENGTH "${name}" length)
  math(EXPR pad "18 - ${length}")
  string(REPEAT " " ${pad} spaces)
  string(SUBSTRING "${mark}   " 0 9 mark)
  set_property(GLOBAL APPEND PROPERTY SYM_REPORT "${name}${spaces}${mark} ${text}")
endfunction()

function(sym_print_report)
  message(STATUS "")
  message(STATUS "Symposium ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, "
                 "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  get_property(lines GLOBAL PROPERTY SYM_REPORT)
  foreach(line IN LISTS lines)
    message(STATUS "  ${line}")
  endforeach()
  message(STATUS "")
endfunction()
