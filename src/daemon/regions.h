// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "io/shared_memory.h"
#include "session/host.h"

namespace peal::daemon {

/// Shared memory in which clients of this machine read their events. Thread: the loop's.
class Regions {
 public:
  /// Returns an empty span if the system provides no shared memory; reason() then says why.
  ByteSpan open(session::RegionId id, std::uint32_t bytes) {
    auto made = io::SharedMemory::make(bytes);
    if (!made) {
      reason_ = made.error().message;
      return {};
    }
    return all_.emplace(id, std::move(*made)).first->second.span();
  }
  void close(session::RegionId id) { all_.erase(id); }
  /// The descriptor of the region; -1 if there is no such region.
  int fd(session::RegionId id) const {
    const auto found = all_.find(id);
    return found == all_.end() ? -1 : found->second.fd();
  }
  const std::string& reason() const { return reason_; }

 private:
  std::map<session::RegionId, io::SharedMemory> all_;
  std::string reason_;
};

}  // namespace peal::daemon
