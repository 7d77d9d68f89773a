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

/// Detects nodes whose packets arrive here, but which no data stream reaches, as behind a firewall
/// that lets datagrams pass, but not TCP. Looks once a second, and reports a node after three
/// consecutive looks that found new packets of the node. The node is reported again only after its
/// packets stopped for a while, or its stream opened. A node that is down is not reported.
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
    bool heard = false;     ///< a packet has arrived after the last look
  };

  std::map<NodeId, Record> nodes_;  ///< nodes whose stream is not open, for a known reason
  Instant look_at_{};
};

}  // namespace peal::runtime
