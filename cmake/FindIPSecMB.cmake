# SPDX-License-Identifier: Apache-2.0
# Intel's library for AES-GCM, as the target IPSecMB::IPSecMB. It brings no file for CMake or
# pkg-config of its own.
find_path(IPSecMB_INCLUDE_DIR intel-ipsec-mb.h)
find_library(IPSecMB_LIBRARY IPSec_MB)
mark_as_advanced(IPSecMB_INCLUDE_DIR IPSecMB_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(IPSecMB REQUIRED_VARS IPSecMB_LIBRARY IPSecMB_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian has it in libipsec-mb-dev")
if(IPSecMB_FOUND AND NOT TARGET IPSecMB::IPSecMB)
  add_library(IPSecMB::IPSecMB UNKNOWN IMPORTED)
  set_target_properties(IPSecMB::IPSecMB PROPERTIES
    IMPORTED_LOCATION "${IPSecMB_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${IPSecMB_INCLUDE_DIR}")
endif()
