# What `cmake --install` leaves: the language, threads, reports and the checker, for find_package(symposium).
# The command, sim and cuda stay in the build folder.
#
#   cmake --build BUILD --target sym_installed && cmake --install BUILD --prefix PREFIX

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(parts core host report thread)
if(SYM_HAVE_FIBER)
  list(APPEND parts fiber check)
endif()
add_custom_target(sym_installed)
foreach(part IN LISTS parts)
  set_target_properties(sym_${part} PROPERTIES EXPORT_NAME ${part})
  install(TARGETS sym_${part} EXPORT symposium-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(part STREQUAL core)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/symposium
            FILES_MATCHING PATTERN "*.hpp")
  else()
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/backends/${part}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/symposium/backends FILES_MATCHING PATTERN "*.hpp")
  endif()
  add_dependencies(sym_installed sym_${part})
endforeach()
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/symposium)
install(EXPORT symposium-targets NAMESPACE symposium:: DESTINATION ${config_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/symposium-config.cmake.in
                              ${PROJECT_BINARY_DIR}/symposium-config.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/symposium-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/symposium-config.cmake
              ${PROJECT_BINARY_DIR}/symposium-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/checked_kernel.cmake DESTINATION ${config_dir})
