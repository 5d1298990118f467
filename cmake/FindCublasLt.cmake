# cuBLASLt: CublasLt::cublasLt, CublasLt_VERSION. Looked for in CublasLt_ROOT, the CUDA toolkit, the
# system, and the folders of the Python packages (nvidia/cu13 or nvidia/cublas, whose library has no
# plain .so name). Of the toolkit's own major version, where that is known.
set(places ${CublasLt_ROOT} $ENV{CublasLt_ROOT} ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_TARGET_DIR}
    /usr/local /usr)
set(includes ${CUDAToolkit_INCLUDE_DIRS})
set(libraries ${CUDAToolkit_LIBRARY_DIR})
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  foreach(module nvidia.cu${CUDAToolkit_VERSION_MAJOR} nvidia.cublas)
    execute_process(
      COMMAND ${Python3_EXECUTABLE} -c
              "import importlib.util as u; print(*u.find_spec('${module}').submodule_search_locations)"
      OUTPUT_VARIABLE python_place OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND places ${python_place})
  endforeach()
endif()
foreach(place IN LISTS places)
  list(APPEND includes ${place}/include)
  list(APPEND libraries ${place}/lib64 ${place}/lib ${place}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
endforeach()

find_path(CublasLt_INCLUDE_DIR cublasLt.h PATHS ${includes} NO_DEFAULT_PATH)
find_library(CublasLt_LIBRARY NAMES cublasLt libcublasLt.so.${CUDAToolkit_VERSION_MAJOR}
             PATHS ${libraries} NO_DEFAULT_PATH)
mark_as_advanced(CublasLt_INCLUDE_DIR CublasLt_LIBRARY)
if(CublasLt_INCLUDE_DIR AND EXISTS ${CublasLt_INCLUDE_DIR}/cublas_api.h)
  file(STRINGS ${CublasLt_INCLUDE_DIR}/cublas_api.h lines REGEX "define CUBLAS_VER_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+).*" "\\1.\\2.\\3" CublasLt_VERSION
         "${lines}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CublasLt REQUIRED_VARS CublasLt_LIBRARY CublasLt_INCLUDE_DIR
                                  VERSION_VAR CublasLt_VERSION)
if(CublasLt_FOUND AND NOT TARGET CublasLt::cublasLt)
  add_library(CublasLt::cublasLt SHARED IMPORTED)
  set_target_properties(CublasLt::cublasLt PROPERTIES IMPORTED_LOCATION ${CublasLt_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${CublasLt_INCLUDE_DIR})
endif()
