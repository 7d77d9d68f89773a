// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "io/udp.h"

namespace peal::runtime {

/// Nodes whose packets arrive here, and which no stream for data reaches: a firewall lets datagrams
/// pass, and no TCP. Looks once a second, and tells of each node once, after three looks in a row
/// at which its packets had arrived. A node that is down is no news.
class Unreached {
 public:
  using Streams = std::function<std::vector<io::StreamState>()>;
  using Tell = std::function<void(const io::StreamState&)>;

  void look(Instant now, const Streams& streams, const Tell& tell);
  /// A packet of this node has arrived.
  void heard(NodeId from) {
    if (nodes_.empty()) return;
    if (const auto found = nodes_.find(from); found != nodes_.end()) found->second.heard = true;
  }

 private:
  struct Record {
    std::uint32_t looks{};  ///< in a row at which packets had arrived since the one before
    bool heard = false;     ///< since the last look
  };

  std::map<NodeId, Record> nodes_;  ///< without a stream, with a reason
  Instant look_at_{};
};

}  // namespace peal::runtime
