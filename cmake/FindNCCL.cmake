# NCCL: NCCL::nccl, NCCL_VERSION. Looked for in NCCL_ROOT, the CUDA toolkit, the system, and the
# folder of the Python package (nvidia/nccl, whose library has no plain .so name). The first place
# that is new enough wins, since machines often have an old one beside a new one.
set(places ${NCCL_ROOT} $ENV{NCCL_ROOT} $ENV{NCCL_HOME} ${CUDAToolkit_LIBRARY_ROOT}
    ${CUDAToolkit_TARGET_DIR} /usr/local /usr)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c
            "import importlib.util as u; print(*u.find_spec('nvidia.nccl').submodule_search_locations)"
    OUTPUT_VARIABLE python_place OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(APPEND places ${python_place})
endif()

set(NCCL_VERSION "")
foreach(place IN LISTS places)
  unset(found_include)
  unset(found_library)
  find_path(found_include NAMES nccl_device.h PATHS ${place}/include NO_CACHE NO_DEFAULT_PATH)
  find_library(found_library NAMES nccl libnccl.so.2 NO_CACHE NO_DEFAULT_PATH
               PATHS ${place}/lib ${place}/lib64 ${place}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
  if(NOT found_include OR NOT found_library OR NOT EXISTS ${found_include}/nccl.h)
    continue()
  endif()
  file(STRINGS ${found_include}/nccl.h lines REGEX "define NCCL_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+)" "\\1.\\2.\\3" version "${lines}")
  if(NOT NCCL_VERSION OR version VERSION_GREATER NCCL_VERSION)
    set(NCCL_VERSION ${version})
    set(NCCL_INCLUDE_DIR ${found_include})
    set(NCCL_LIBRARY ${found_library})
  endif()
  if(NOT NCCL_VERSION VERSION_LESS "${NCCL_FIND_VERSION}")
    break()
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR
                                  VERSION_VAR NCCL_VERSION)
if(NCCL_FOUND AND NOT TARGET NCCL::nccl)
  add_library(NCCL::nccl SHARED IMPORTED)
  set_target_properties(NCCL::nccl PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${NCCL_INCLUDE_DIR})
endif()
