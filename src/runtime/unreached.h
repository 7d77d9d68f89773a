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

/// Detects nodes whose packets arrive here, but to which no data stream opens, for example because
/// a firewall passes datagrams, but not TCP. Looks once a second. Reports a node after three
/// consecutive looks that found new packets of the node. Reports the node again only after its
/// packets stopped for a while, or its stream opened. Does not report a node that is down.
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
    std::uint32_t looks{};  ///< consecutive looks that found new packets
    bool heard = false;     ///< a packet has arrived since the last look
  };

  std::map<NodeId, Record> nodes_;  ///< nodes whose stream is not open, for a known reason
  Instant look_at_{};
};

}  // namespace peal::runtime
