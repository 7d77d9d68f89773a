// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

// Why RDMA is not used, for people. Needs neither libibverbs nor a device.

namespace peal::io::fabric {

struct VerbsProblem {
  std::string text;         ///< one line with the remedy
  bool has_device = false;  ///< the machine has an RDMA device, which cannot be used
};

/// `why` says what is missing, and how to get it. The other remedy is the next fabric.
VerbsProblem verbs_missing(const std::string& why);
VerbsProblem verbs_unusable(const std::string& why);

/// One device that could not be opened, such as "mlx5_0 (Permission denied)"; `number` is errno.
std::string unopened_device_text(const std::string& device, int number);
/// None of the machine's devices could be opened; `devices` names each as above.
VerbsProblem no_right_to_devices(const std::string& devices);

/// A device could not do something: errno is `number`. `locked_max` is RLIMIT_MEMLOCK in bytes;
/// nothing if it is unlimited or unknown.
std::string device_failure_text(const std::string& doing, int number,
                                std::optional<std::uint64_t> locked_max);

/// A device is there, and this cluster does not let it carry writes.
std::string verbs_in_clear_text();

}  // namespace peal::io::fabric
