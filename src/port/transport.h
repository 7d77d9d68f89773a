// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/buffer.h"
#include "base/ids.h"

namespace peal::port {

/// How a node's packets leave it. io/ implements it with sockets, the simulator with its virtual
/// network. Sending never blocks; what cannot be sent is lost, as on any network, and counted.
/// Packets leave in the order of the calls within one lane.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void send(NodeId to, Lane lane, const BufferRef& packet) = 0;
  /// To every configured node but this one.
  virtual void multicast(Lane lane, const BufferRef& packet) = 0;
  /// The members of the current view: with unicast fan-out, `data` needs to go to them alone.
  virtual void set_audience(std::span<const MemberId> members) = 0;
  /// A member of the view that takes data more slowly than they come: nothing new should be sent
  /// until it has caught up. 0 if there is none.
  virtual NodeId congested() const { return {}; }
};

}  // namespace peal::port
