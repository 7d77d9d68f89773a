# SPDX-License-Identifier: Apache-2.0
# One CMake target per module. A module sees the headers of the modules that it names, and of no
# others: each module's headers are exported through a private include tree, so that a forbidden
# include does not build (ARCHITECTURE.md, "Which module may include which").

add_library(peal_flags INTERFACE)
target_compile_features(peal_flags INTERFACE cxx_std_20)
target_compile_options(peal_flags INTERFACE -fno-omit-frame-pointer
  # Programs name files from the root of the sources: the same bytes wherever they are built, and a
  # compiler cache serves several checkouts.
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
  # GCC 12 sees overlapping copies in every string concatenation at -O3 (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # GCC 12 gathers fields that were just written one by one into one wide load. The processor cannot
  # forward that from its stores, and waits until all of them are done: also those of a payload that
  # was just copied into memory which is in no cache.
  $<$<CXX_COMPILER_ID:GNU>:-fno-tree-slp-vectorize>)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(peal_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Wold-style-cast -Woverloaded-virtual -Werror)
else()
  # The project around Peal may ask for warnings that Peal does not know, and make them errors.
  target_compile_options(peal_flags INTERFACE -Wno-error)
endif()
if(PEAL_SANITIZE)
  target_compile_options(peal_flags INTERFACE -fsanitize=${PEAL_SANITIZE} -fno-sanitize-recover=all)
  if(PEAL_SANITIZE MATCHES undefined)
    # What these would find, AddressSanitizer stops at too; they cost a fifth of the build's time.
    target_compile_options(peal_flags INTERFACE -fno-sanitize=null,object-size,vptr)
  endif()
  if(PEAL_SANITIZE MATCHES thread)
    # ThreadSanitizer does not see fences. They order memory that processes share, which it does
    # not watch either.
    target_compile_options(peal_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
  target_link_options(peal_flags INTERFACE -fsanitize=${PEAL_SANITIZE})
endif()

# peal_unity(target KIND [ALONE files…]): several files of a target become one unit of the
# compiler, if PEAL_UNITY says so for targets of that kind; not those that have to be ALONE.
#
# The templates of the standard library and of GoogleTest are then compiled once for all of them,
# which is most of the work. So a name in a file's unnamed namespace must not be another's of its
# target. What ships is compiled four files at a time ("few"), so that a change costs seconds; the
# preset dev compiles each file alone, which is where an include that is missing is noticed.
function(peal_unity target kind)
  cmake_parse_arguments(UNITY "" "" "ALONE" ${ARGN})
  if(NOT PEAL_UNITY MATCHES "^(none|few|all)$")
    message(FATAL_ERROR "PEAL_UNITY is '${PEAL_UNITY}'; it can be none, few or all")
  endif()
  set(batch 16)
  if(kind STREQUAL "ships" AND PEAL_UNITY STREQUAL "few")
    set(batch 4)
  endif()
  if(NOT PEAL_UNITY STREQUAL "none")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    set_source_files_properties(${UNITY_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# peal_export_headers(target prefix dir [folders…]): exports the headers of `dir` itself as
# `prefix/…`, and those of the named folders in it as `prefix/folder/…`, to targets that link the
# module, through symbolic links in the build tree.
function(peal_export_headers target prefix dir)
  # Not "rooms/", which older build trees hold as links to whole folders: a link written through
  # one of those would replace the header itself.
  set(tree ${peal_BINARY_DIR}/headers/${target})
  if(IS_SYMLINK ${tree}/${prefix})
    message(FATAL_ERROR "${tree}/${prefix} is a link to a folder: remove the build folder")
  endif()
  foreach(folder . ${ARGN})
    file(MAKE_DIRECTORY ${tree}/${prefix}/${folder})
    file(GLOB headers CONFIGURE_DEPENDS ${dir}/${folder}/*.h)
    foreach(header ${headers})
      get_filename_component(name ${header} NAME)
      file(CREATE_LINK ${header} ${tree}/${prefix}/${folder}/${name} SYMBOLIC)
    endforeach()
  endforeach()
  set(PEAL_HEADER_TREE ${tree} PARENT_SCOPE)
endfunction()

# peal_module(name PREFIX include-prefix [PURE] [TOOL] [SIM_ONLY] SOURCES … USES modules…
#             [HIDES modules…] [LIBS libraries…] [ALONE files…] [FOLDERS folders…])
# Users of the module may also include headers of the modules that it USES, but not of those that it
# HIDES. PURE modules have no clock, thread, socket or global. They are built twice: as peal_<name>,
# which ships, and as peal_<name>_sim with PEAL_SIM=1, which adds the simulator's probes and
# mutants. With PEAL_ONE_FLAVOUR both are the latter, compiled once: a mutant has no effect until it
# is activated. A SIM_ONLY module is built as peal_<name>_sim alone: nothing that ships has it. A
# TOOL is compiled several files at a time where tests are: no other program includes its files.
function(peal_module name)
  cmake_parse_arguments(MODULE "PURE;TOOL;SIM_ONLY" "PREFIX" "SOURCES;USES;HIDES;LIBS;ALONE;FOLDERS"
    ${ARGN})
  set_property(GLOBAL PROPERTY PEAL_MODULE_${name} "${MODULE_USES};${MODULE_HIDES}")
  set(flavours "plain")
  if(MODULE_SIM_ONLY)
    set(flavours "sim")
  elseif(MODULE_PURE AND PEAL_ONE_FLAVOUR)
    set(flavours "one")
  elseif(MODULE_PURE)
    list(APPEND flavours "sim")
  endif()
  foreach(flavour ${flavours})
    set(suffix "")
    if(flavour STREQUAL "sim")
      set(suffix "_sim")
    endif()
    set(target peal_${name}${suffix})
    set(kind PUBLIC)
    if(MODULE_SOURCES)
      add_library(${target} STATIC ${MODULE_SOURCES})
      target_link_libraries(${target} PRIVATE peal_flags)
      set_target_properties(${target} PROPERTIES
        CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
      if(flavour STREQUAL "sim" OR MODULE_TOOL)
        peal_unity(${target} tests ALONE ${MODULE_ALONE})
      else()
        peal_unity(${target} ships ALONE ${MODULE_ALONE})
      endif()
    else()
      set(kind INTERFACE)
      add_library(${target} INTERFACE)
    endif()
    peal_export_headers(${target} ${MODULE_PREFIX} ${CMAKE_CURRENT_SOURCE_DIR} ${MODULE_FOLDERS})
    target_include_directories(${target} ${kind} ${PEAL_HEADER_TREE})
    if(flavour MATCHES "^(sim|one)$")
      target_compile_definitions(${target} ${kind} PEAL_SIM=1)
    endif()
    foreach(module ${MODULE_USES})
      target_link_libraries(${target} ${kind} peal_${module}${suffix})
    endforeach()
    foreach(module ${MODULE_HIDES})
      target_link_libraries(${target} PRIVATE peal_${module}${suffix})
    endforeach()
    target_link_libraries(${target} ${kind} ${MODULE_LIBS})
    if(flavour STREQUAL "one")
      add_library(${target}_sim ALIAS ${target})
    endif()
  endforeach()
endfunction()

# peal_archive(name LIBS libraries…): the archive libpeal-<name>.a with the module of that name and
# all modules that it uses, and the target peal::<name> that applications link. LIBS are what they
# need besides the standard library; libraries of headers are in the objects already.
#
# A module that is in two archives is in both as the same objects, so that a program that links both
# takes each object from the one that comes first. The objects also fit into shared libraries, and
# show nothing from there.
function(peal_archive name)
  cmake_parse_arguments(ARCHIVE "" "" "LIBS" ${ARGN})
  set(waiting ${name})
  set(modules)
  set(objects)
  while(waiting)
    list(POP_FRONT waiting module)
    if(NOT module IN_LIST modules)
      list(APPEND modules ${module})
      get_target_property(type peal_${module} TYPE)
      if(type STREQUAL "STATIC_LIBRARY")
        list(APPEND objects $<TARGET_OBJECTS:peal_${module}>)
        set_target_properties(peal_${module} PROPERTIES POSITION_INDEPENDENT_CODE ON
          CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
      endif()
      get_property(uses GLOBAL PROPERTY PEAL_MODULE_${module})
      list(APPEND waiting ${uses})
    endif()
  endwhile()
  set(target peal_${name}_archive)
  add_library(${target} STATIC ${objects})
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME peal-${name} EXPORT_NAME ${name})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${peal_SOURCE_DIR}/include>)
  target_link_libraries(${target} INTERFACE ${ARCHIVE_LIBS})
  if(PEAL_SANITIZE)
    target_link_options(${target} INTERFACE $<BUILD_INTERFACE:-fsanitize=${PEAL_SANITIZE}>)
  endif()
  add_library(peal::${name} ALIAS ${target})
endfunction()

# peal_part(name folders…): one part of Peal, with the folders of its modules. peal_add_parts() adds
# those parts whose packages are here.
#
# Built by itself, Peal has to have them all. As a part of an application, it need not: what that
# application links is not known yet. A target that lacks something says so once it is linked.
set(PEAL_PARTS)
macro(peal_part name)
  list(APPEND PEAL_PARTS ${name})
  set(PEAL_MODULES_${name} ${ARGN})
  peal_find_packages(${name})
endmacro()

macro(peal_add_parts)
  if(PROJECT_IS_TOP_LEVEL AND PEAL_LACKS)
    list(REMOVE_DUPLICATES PEAL_LACKS)
    list(JOIN PEAL_LACKS "\n  " lacks)
    message(FATAL_ERROR "not found:\n  ${lacks}\ntools/install-deps installs them on Debian")
  endif()
  set(around)
  if(NOT PROJECT_IS_TOP_LEVEL)
    set(around EXCLUDE_FROM_ALL)
  endif()
  foreach(part ${PEAL_PARTS})
    if(PEAL_HAS_${part})
      foreach(module ${PEAL_MODULES_${part}})
        add_subdirectory(${module} ${around})
      endforeach()
    endif()
  endforeach()
  peal_refuse(client client)
  peal_refuse(c client)
  peal_refuse(member member)
  if(NOT PEAL_HAS_member)
    add_library(peal::peal ALIAS peal_member_refused)
  endif()
endmacro()

# If the part lacks a package: a library that nothing can be linked to, and that says why.
function(peal_refuse library part)
  if(NOT PEAL_HAS_${part})
    list(JOIN PEAL_LACKS_${part} ", " lacks)
    message(STATUS "peal: there is no peal::${library} without ${lacks}")
    add_library(peal_${library}_refused INTERFACE)
    # A name with colons has to be a target's, so that CMake stops there, and shows it.
    target_link_libraries(peal_${library}_refused INTERFACE
      "peal::${library} needs ${lacks}, which was not found when peal was configured")
    add_library(peal::${library} ALIAS peal_${library}_refused)
  endif()
endfunction()

# peal_test(name SOURCES … USES targets… [ALONE files…] [COMPUTES]): one GoogleTest binary,
# registered with CTest. COMPUTES: it has so much to compute that its own files are optimised like
# what they test.
function(peal_test name)
  cmake_parse_arguments(T "COMPUTES" "" "SOURCES;USES;ALONE" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  peal_unity(${name} tests ALONE ${T_ALONE})
  if(NOT T_COMPUTES)
    target_compile_options(${name} PRIVATE ${PEAL_TEST_FLAGS})
  endif()
  target_link_libraries(${name} PRIVATE
    peal_flags ${T_USES} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  if(T_COMPUTES)
    peal_long_test(${name})
  endif()
endfunction()

# peal_long_test(NAME): CTest starts it first, so that no processor waits for it at the end.
function(peal_long_test name)
  set_tests_properties(${name} PROPERTIES COST 100)
endfunction()
