# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs, in four components: `programs`, `library` (what a program that
# was linked with libpeal.so runs with), `development` and `python`. All but the unit file works
# from wherever the folder is moved to.
if(PEAL_LACKS)
  list(JOIN PEAL_LACKS ", " lacks)
  message(FATAL_ERROR "PEAL_INSTALL is ON, and all libraries are installed; not found: ${lacks}")
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(docs ${CMAKE_INSTALL_DOCDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/peal)

# What is made besides programs and libraries: pages of the manual, from what the programs say about
# themselves, and the Python package, with libpeal.so in it.
set(man ${peal_BINARY_DIR}/man)
if(PEAL_PROGRAMS)
  add_custom_command(OUTPUT ${man}/peal.1 ${man}/peald.8 ${man}/peal-sim.1
    COMMAND ${peal_SOURCE_DIR}/tools/make_man $<TARGET_FILE:peal> ${man}
    DEPENDS peal peal-sim ${peal_SOURCE_DIR}/tools/make_man VERBATIM)
  add_custom_target(peal_man ALL DEPENDS ${man}/peal.1)
endif()
set(wheels ${peal_BINARY_DIR}/wheel)
file(GLOB python CONFIGURE_DEPENDS bindings/python/peal/*.py)
add_custom_command(OUTPUT ${wheels}/built
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${wheels}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${wheels}
  COMMAND ${peal_SOURCE_DIR}/bindings/python/peal_build.py $<TARGET_FILE:peal_c> ${wheels}
  COMMAND ${CMAKE_COMMAND} -E touch ${wheels}/built
  DEPENDS peal_c ${python} bindings/python/peal_build.py include/peal/version.h LICENSE
    licenses/THIRD-PARTY VERBATIM)
add_custom_target(peal_wheel ALL DEPENDS ${wheels}/built)

# Before anything of a component is installed, all of it is there, or the installation says what to
# do. The target peal_install builds all of it, and no tests.
add_custom_target(peal_install)
function(peal_installs component)
  cmake_parse_arguments(INSTALLS "" "" "FILES;TARGETS" ${ARGN})
  add_dependencies(peal_install ${INSTALLS_TARGETS})
  install(CODE "
    foreach(file ${INSTALLS_FILES})
      if(NOT EXISTS \"\${file}\")
        message(FATAL_ERROR \"\${file} is not built. This builds all that is installed: \"
          \"cmake --build ${peal_BINARY_DIR} --target peal_install\")
      endif()
    endforeach()" COMPONENT ${component})
endfunction()
if(PEAL_PROGRAMS)
  peal_installs(programs TARGETS peal peal-sim peal_man
    FILES $<TARGET_FILE:peal> $<TARGET_FILE:peal-sim> ${man}/peal.1)
endif()
peal_installs(library TARGETS peal_c FILES $<TARGET_FILE:peal_c>)
peal_installs(development TARGETS peal_client_archive peal_member_archive
  FILES $<TARGET_FILE:peal_client_archive> $<TARGET_FILE:peal_member_archive>)
peal_installs(python TARGETS peal_wheel FILES ${wheels}/built)

# Programs.
if(PEAL_PROGRAMS)
  install(TARGETS peal peal-sim RUNTIME COMPONENT programs)
  install(FILES $<TARGET_FILE_DIR:peal>/peald TYPE BIN COMPONENT programs)
  install(FILES ${man}/peal.1 ${man}/peal-sim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
    COMPONENT programs)
  install(FILES ${man}/peald.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT programs)
  foreach(program peal peald peal-sim)
    install(FILES packaging/peal.bash RENAME ${program} COMPONENT programs
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  endforeach()
  # The unit file holds the path of the program, so that it is made for the prefix of the moment.
  install(CODE "
    get_filename_component(bindir \"${CMAKE_INSTALL_BINDIR}\" ABSOLUTE
      BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")
    configure_file(\"${peal_SOURCE_DIR}/packaging/peal@.service.in\"
      \"${peal_BINARY_DIR}/peal@.service\" @ONLY)
    file(INSTALL \"${peal_BINARY_DIR}/peal@.service\"
      DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")" COMPONENT programs)
endif()

# Libraries, and what an application is built with.
foreach(library client member)
  target_include_directories(peal_${library}_archive INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS peal_${library}_archive EXPORT peal-${library} ARCHIVE COMPONENT development)
endforeach()
target_include_directories(peal_c INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS peal_c EXPORT peal-c
  LIBRARY COMPONENT library NAMELINK_COMPONENT development)
foreach(library client member c)
  install(EXPORT peal-${library} FILE peal-${library}.cmake NAMESPACE peal::
    DESTINATION ${package} COMPONENT development)
endforeach()
set(peal_member_packages)
if(PEAL_GCM STREQUAL "ipsec_mb")
  set(peal_member_packages IPSecMB)
  install(FILES cmake/FindIPSecMB.cmake DESTINATION ${package} COMPONENT development)
endif()
configure_package_config_file(packaging/peal-config.cmake.in ${peal_BINARY_DIR}/peal-config.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${peal_BINARY_DIR}/peal-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${peal_BINARY_DIR}/peal-config.cmake ${peal_BINARY_DIR}/peal-config-version.cmake
  DESTINATION ${package} COMPONENT development)
install(DIRECTORY include/peal TYPE INCLUDE COMPONENT development FILES_MATCHING PATTERN "*.h")
install(DIRECTORY examples DESTINATION ${docs} COMPONENT development)

# peal.pc says where things are seen from itself, so that it may be moved with them.
set(peal_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH peal_prefix ${peal_pkgconfig} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" peal_prefix ${peal_prefix})
file(RELATIVE_PATH peal_includedir ${peal_pkgconfig} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(packaging/peal.pc.in ${peal_BINARY_DIR}/peal.pc @ONLY)
install(FILES ${peal_BINARY_DIR}/peal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)

install(DIRECTORY ${wheels}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/peal COMPONENT python
  FILES_MATCHING PATTERN "*.whl")
foreach(component programs library development)
  install(FILES LICENSE licenses/THIRD-PARTY DESTINATION ${docs} COMPONENT ${component})
endforeach()
