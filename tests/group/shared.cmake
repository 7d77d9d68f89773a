# SPDX-License-Identifier: Apache-2.0
# What tests and fuzz targets share.
if(NOT TARGET peal_group_examine)
  add_library(peal_group_examine STATIC ${CMAKE_CURRENT_LIST_DIR}/examine.cc)
  target_include_directories(peal_group_examine PUBLIC ${CMAKE_CURRENT_LIST_DIR})
  target_link_libraries(peal_group_examine PRIVATE peal_flags PUBLIC peal_group)
endif()
