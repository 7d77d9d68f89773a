# SPDX-License-Identifier: Apache-2.0
# Libraries that the tests and the fuzz targets of the codecs share. Included by both, so that
# either can be built without the other.
if(NOT TARGET peal_wire_examine)
  add_library(peal_wire_examine STATIC ${CMAKE_CURRENT_LIST_DIR}/client_examine.cc
                                       ${CMAKE_CURRENT_LIST_DIR}/examine.cc
                                       ${CMAKE_CURRENT_LIST_DIR}/paxos_examine.cc
                                       ${CMAKE_CURRENT_LIST_DIR}/paxos_rules.cc
                                       ${CMAKE_CURRENT_LIST_DIR}/ramcast_examine.cc
                                       ${CMAKE_CURRENT_LIST_DIR}/ramcast_rules.cc
                                       ${CMAKE_CURRENT_LIST_DIR}/rules.cc
                                       ${CMAKE_CURRENT_LIST_DIR}/toto_examine.cc
                                       ${CMAKE_CURRENT_LIST_DIR}/toto_rules.cc)
  target_link_libraries(peal_wire_examine
    PRIVATE peal_flags PUBLIC peal_wire PRIVATE peal_order peal_order_toto)
  target_include_directories(peal_wire_examine PUBLIC ${CMAKE_CURRENT_LIST_DIR})

  add_library(peal_wire_golden STATIC ${CMAKE_CURRENT_LIST_DIR}/golden.cc)
  target_link_libraries(peal_wire_golden PRIVATE peal_flags)
  target_include_directories(peal_wire_golden PUBLIC ${CMAKE_CURRENT_LIST_DIR})
endif()
