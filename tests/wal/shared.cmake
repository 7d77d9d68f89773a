# SPDX-License-Identifier: Apache-2.0
# What judges logs on a simulated disk: for the tests, and for the fuzz target. Included by both, so
# that either can be built without the other.
if(NOT TARGET peal_wal_story)
  add_library(peal_wal_story STATIC ${CMAKE_CURRENT_LIST_DIR}/damage.cc
                                    ${CMAKE_CURRENT_LIST_DIR}/story.cc)
  target_link_libraries(peal_wal_story PRIVATE peal_flags PUBLIC peal_wal_sim peal_sim_core)
  target_include_directories(peal_wal_story PUBLIC ${CMAKE_CURRENT_LIST_DIR})
endif()
