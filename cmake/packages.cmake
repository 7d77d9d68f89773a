# SPDX-License-Identifier: Apache-2.0
# The packages that each part of Peal is built with, beside the compiler and the C library. The
# programs need what members need, and these what clients need. README.md, "Install", has the same.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

# The library for AES-GCM: libipsec-mb, which is for x86-64 only, or OpenSSL.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(peal_gcm ipsec_mb)
else()
  set(peal_gcm openssl)
endif()
set(PEAL_GCM ${peal_gcm} CACHE STRING "Whose AES-GCM seals packets: ipsec_mb or openssl")
if(NOT PEAL_GCM MATCHES "^(ipsec_mb|openssl)$")
  message(FATAL_ERROR "PEAL_GCM is '${PEAL_GCM}'; it can be ipsec_mb or openssl")
endif()

# The package as CMake knows it, and what brings it on Debian.
set(PEAL_PACKAGES_client OpenSSL Threads)
set(PEAL_PACKAGES_member ${PEAL_PACKAGES_client} nlohmann_json)
if(PEAL_GCM STREQUAL "ipsec_mb")
  list(APPEND PEAL_PACKAGES_member IPSecMB)
endif()
set(PEAL_PACKAGES_programs ${PEAL_PACKAGES_member} CLI11 tomlplusplus)
set(PEAL_DEBIAN_OpenSSL libssl-dev)
set(PEAL_DEBIAN_Threads libc6-dev)
set(PEAL_DEBIAN_nlohmann_json nlohmann-json3-dev)
set(PEAL_DEBIAN_IPSecMB libipsec-mb-dev)
set(PEAL_DEBIAN_CLI11 libcli11-dev)
set(PEAL_DEBIAN_tomlplusplus libtomlplusplus-dev)
set(PEAL_ARGUMENTS_OpenSSL 3.0 COMPONENTS SSL Crypto)

# Sets PEAL_HAS_<part>, and if it is false PEAL_LACKS_<part>: names for a person.
macro(peal_find_packages part)
  set(PEAL_LACKS_${part})
  foreach(package ${PEAL_PACKAGES_${part}})
    find_package(${package} ${PEAL_ARGUMENTS_${package}} QUIET)
    if(NOT ${package}_FOUND)
      list(APPEND PEAL_LACKS_${part} "${package} (Debian: ${PEAL_DEBIAN_${package}})")
    endif()
  endforeach()
  list(APPEND PEAL_LACKS ${PEAL_LACKS_${part}})
  if(PEAL_LACKS_${part})
    set(PEAL_HAS_${part} FALSE)
  else()
    set(PEAL_HAS_${part} TRUE)
  endif()
endmacro()
