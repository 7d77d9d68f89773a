// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/buffer.h"
#include "base/ids.h"

namespace peal::port {

/// Sends a node's packets. io/ implements this interface with sockets, the simulator with its
/// virtual network. Sending never blocks. A packet that cannot be sent is lost, as on any network,
/// and counted. Within one lane, packets leave in the order of the calls.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void send(NodeId to, Lane lane, const BufferRef& packet) = 0;
  /// Sends to every configured node except this one.
  virtual void multicast(Lane lane, const BufferRef& packet) = 0;
  /// Sets the members of the current view. With unicast fan-out, multicast() on the data lane sends
  /// only to these members.
  virtual void set_audience(std::span<const MemberId> members) = 0;
  /// A member of the view that takes data more slowly than this node sends data; 0 if there is
  /// none. New units should wait until that member has caught up.
  virtual NodeId congested() const { return {}; }
};

}  // namespace peal::port
