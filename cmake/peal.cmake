# SPDX-License-Identifier: Apache-2.0
# One CMake target per room. A room sees the headers of the rooms it names and of no others: each
# room's headers are exported through a private include tree, so that a forbidden include does not
# build (ARCHITECTURE.md, "Which room may open which").

add_library(peal_flags INTERFACE)
target_compile_options(peal_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -fno-omit-frame-pointer
  # GCC 12 sees overlapping copies in every string concatenation at -O3 (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Whoever builds Peal as a part of something else may use a compiler that knows more warnings.
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(peal_flags INTERFACE -Werror)
endif()
if(PEAL_SANITIZE)
  target_compile_options(peal_flags INTERFACE -fsanitize=${PEAL_SANITIZE} -fno-sanitize-recover=all)
  if(PEAL_SANITIZE MATCHES undefined)
    # What these would find, AddressSanitizer stops at too; they cost a fifth of the build's time.
    target_compile_options(peal_flags INTERFACE -fno-sanitize=null,object-size,vptr)
  endif()
  target_link_options(peal_flags INTERFACE -fsanitize=${PEAL_SANITIZE})
endif()

# Exports the headers of `dir` itself, not of folders in it, as `prefix/…` to whoever links the
# room, through symbolic links in the build tree.
function(peal_export_headers target prefix dir)
  # Not "rooms/", which older build trees hold as links to whole folders: a link written through
  # one of those would replace the header itself.
  set(tree ${CMAKE_BINARY_DIR}/headers/${target})
  if(IS_SYMLINK ${tree}/${prefix})
    message(FATAL_ERROR "${tree}/${prefix} is a link to a folder: remove the build folder")
  endif()
  file(MAKE_DIRECTORY ${tree}/${prefix})
  file(GLOB headers CONFIGURE_DEPENDS ${dir}/*.h)
  foreach(header ${headers})
    get_filename_component(name ${header} NAME)
    file(CREATE_LINK ${header} ${tree}/${prefix}/${name} SYMBOLIC)
  endforeach()
  set(PEAL_HEADER_TREE ${tree} PARENT_SCOPE)
endfunction()

# peal_room(name PREFIX include-prefix [PURE] SOURCES … USES rooms… [HIDES rooms…]
#           [LIBS libraries…])
# Who uses the room may also open the rooms that it USES, but not those that it HIDES.
# PURE rooms hold no clock, thread, socket or global. They are built twice: as peal_<name>, what
# ships, and as peal_<name>_sim with PEAL_SIM=1, which adds the simulator's probes and mutants.
function(peal_room name)
  cmake_parse_arguments(ROOM "PURE" "PREFIX" "SOURCES;USES;HIDES;LIBS" ${ARGN})
  set(flavours "plain")
  if(ROOM_PURE)
    list(APPEND flavours "sim")
  endif()
  foreach(flavour ${flavours})
    set(suffix "")
    if(flavour STREQUAL "sim")
      set(suffix "_sim")
    endif()
    set(target peal_${name}${suffix})
    set(kind PUBLIC)
    if(ROOM_SOURCES)
      add_library(${target} STATIC ${ROOM_SOURCES})
      target_link_libraries(${target} PRIVATE peal_flags)
    else()
      set(kind INTERFACE)
      add_library(${target} INTERFACE)
    endif()
    peal_export_headers(${target} ${ROOM_PREFIX} ${CMAKE_CURRENT_SOURCE_DIR})
    target_include_directories(${target} ${kind} ${PEAL_HEADER_TREE})
    if(flavour STREQUAL "sim")
      target_compile_definitions(${target} ${kind} PEAL_SIM=1)
    endif()
    foreach(room ${ROOM_USES})
      target_link_libraries(${target} ${kind} peal_${room}${suffix})
    endforeach()
    foreach(room ${ROOM_HIDES})
      target_link_libraries(${target} PRIVATE peal_${room}${suffix})
    endforeach()
    target_link_libraries(${target} ${kind} ${ROOM_LIBS})
  endforeach()
endfunction()

# peal_test(name SOURCES … USES targets…): one GoogleTest binary, registered with CTest.
function(peal_test name)
  cmake_parse_arguments(T "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE
    peal_flags ${T_USES} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()
