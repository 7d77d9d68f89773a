# SPDX-License-Identifier: Apache-2.0
# What tests and fuzz targets share.
if(NOT TARGET peal_seal_examine)
  add_library(peal_seal_examine STATIC
    ${CMAKE_CURRENT_LIST_DIR}/examine.cc ${CMAKE_CURRENT_LIST_DIR}/stations.cc)
  target_include_directories(peal_seal_examine PUBLIC ${CMAKE_CURRENT_LIST_DIR})
  target_link_libraries(peal_seal_examine PRIVATE peal_flags PUBLIC peal_seal)
endif()
