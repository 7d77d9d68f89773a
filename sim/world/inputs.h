// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/ids.h"
#include "sim/clients/client_side.h"
#include "sim/world/packet.h"

namespace peal::sim {

/// A message that the simulated application of a node wants to send.
struct Submission {
  Service service = Service::agreed;
  DomainSet domains{};
  std::string payload;
  /// With groups: the client's action; if absent, the action is random. SessionClients ignores this
  /// field.
  std::optional<ClientWish> wish;
};

/// Packets that wait in a socket, first in, first out.
class Socket {
 public:
  std::size_t size() const { return packets_.size(); }
  bool empty() const { return packets_.empty(); }
  void push(PacketIndex packet) { packets_.push_back(packet); }
  PacketIndex pop() {
    const PacketIndex first = packets_.front();
    packets_.pop_front();
    return first;
  }

 private:
  std::deque<PacketIndex> packets_;
};

/// All input, except timers, that waits until the node runs.
struct Inputs {
  std::array<Socket, 3> sockets;  ///< by Lane
  std::deque<Submission> inbox;   ///< messages that the application submits when it runs next
  bool leave_wanted = false;
  bool clients_wanted = false;  ///< the time given to Driver::wake_clients() has come
  bool draining = false;        ///< true from on_pause() until on_drained()
  bool room_grew = false;
  bool memory_came = false;  ///< bytes arrived in the node's memory, or writes of the node ended
  bool log_grew = false;     ///< more of the node's log is durable, or the log has failed

  Socket& socket(Lane lane) { return sockets[static_cast<std::size_t>(lane)]; }
  bool has_packets() const {
    return !sockets[0].empty() || !sockets[1].empty() || !sockets[2].empty();
  }
  bool any() const {
    return !inbox.empty() || leave_wanted || clients_wanted || draining || room_grew || log_grew ||
           memory_came || has_packets();
  }
};

}  // namespace peal::sim
