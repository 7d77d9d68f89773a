// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/verbs_problem.h"

#include <cerrno>
#include <cstring>

namespace peal::io::fabric {
namespace {

constexpr const char* kOrTcp = ", or set fabric = \"tcp\"";

}  // namespace

VerbsProblem verbs_missing(const std::string& why) { return {"RDMA: " + why + kOrTcp, false}; }

VerbsProblem verbs_unusable(const std::string& why) { return {"RDMA: " + why + kOrTcp, true}; }

std::string unopened_device_text(const std::string& device, int number) {
  return device + " (" + std::strerror(number) + ")";
}

VerbsProblem no_right_to_devices(const std::string& devices) {
  return verbs_unusable("cannot open " + devices +
                        ": give this user the right to read and write /dev/infiniband/uverbs* "
                        "(with systemd also PrivateDevices=no)");
}

std::string device_failure_text(const std::string& doing, int number,
                                std::optional<std::uint64_t> locked_max) {
  const std::string text = "RDMA: cannot " + doing + " (" + std::strerror(number) + ")";
  // These are what the kernel answers if too much memory would be locked.
  if ((number == ENOMEM || number == EAGAIN || number == EPERM) && locked_max) {
    return text + ", RLIMIT_MEMLOCK is " + std::to_string(*locked_max) +
           ": raise that (ulimit -l, or LimitMEMLOCK of systemd), or lower `slots`" + kOrTcp;
  }
  return text + ": see the device's limits (ibv_devinfo -v)" + kOrTcp;
}

std::string verbs_in_clear_text() {
  return "RDMA: writes would travel in clear, and this cluster has a key_file: set "
         "verbs_in_clear = true if nobody else reaches the network of its devices";
}

}  // namespace peal::io::fabric
