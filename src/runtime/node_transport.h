// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "io/error.h"
#include "io/loop.h"
#include "io/udp.h"
#include "node/node.h"
#include "port/transport.h"
#include "runtime/buffers.h"
#include "runtime/node_table.h"
#include "runtime/refusals.h"
#include "runtime/settings_notice.h"
#include "runtime/trace_log.h"
#include "runtime/unreached.h"

namespace peal::runtime {

/// Carries a node's packets: from its engine to the sockets, and from the sockets to the node.
/// Knows which nodes' packets are refused, and which nodes cannot be reached. Thread: the loop's.
class NodeTransport final : public port::Transport, private io::PacketSink {
 public:
  /// Reports one line of text to a person.
  using Warn = std::function<void(const std::string& text)>;

  /// Opens the sockets and watches them. `loop`, `buffers` and `nodes` must outlive the transport.
  /// Errors: invalid_option, address_in_use, not_permitted, system.
  static Result<std::unique_ptr<NodeTransport>, io::IoError> open(const NodeTable& nodes,
                                                                  io::Loop& loop, Buffers& buffers,
                                                                  Warn warn);

  /// Sets the node that sends and receives, and the node's trace (null: none). Call it once, before
  /// any packet.
  void attach(node::Node& node, TraceLog* trace);

  // port::Transport. No packet leaves before the trace has all events that the packet may reveal.
  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override;
  void set_audience(std::span<const MemberId> members) override { udp_->set_audience(members); }
  NodeId congested() const override;

  /// Passes the packets that have arrived to the node.
  io::Progress receive(const io::Turn& turn) { return udp_->receive(turn, *this); }
  /// Call it at the end of a turn: sends all packets, and checks the streams.
  void flush(Instant now);
  std::optional<Instant> next_deadline() const;
  void on_timer(Instant now);

  /// Seals and opens packets with these keys from now on. Call it only if the settings had keys at
  /// the start.
  void set_keys(const seal::Keys& keys);
  /// The key for sealing packets; none if packets are not sealed.
  std::optional<seal::KeyId> sending_key() const { return sending_; }
  /// Call it when the table has changed: from now on, sends packets to the table's nodes, and
  /// accepts packets only from these nodes.
  void use_table();

  io::UdpTransport& udp() { return *udp_; }
  const io::UdpTransport& udp() const { return *udp_; }
  /// The engine ignores `node` because the node's settings differ: asks the node for its settings
  /// (SettingsNotice).
  void ask_settings(Instant now, NodeId node) { settings_notice_.on_other_settings(now, node); }
  /// A view has this node, so its packets are accepted: forgets earlier refusals.
  void note_member(NodeId node);
  Refusals& refusals() { return refusals_; }
  const Refusals& refusals() const { return refusals_; }

 private:
  NodeTransport(const NodeTable& nodes, std::unique_ptr<io::UdpTransport> udp, Buffers& buffers,
                Warn warn);

  // io::PacketSink
  void on_packet(Instant now, NodeId from, Lane lane, const BufferRef& packet) override;
  void on_refused(Instant now, NodeId from, const seal::Opened& refused) override;
  Lane preferred_lane() const override { return node_->preferred_lane(); }

  const NodeTable& nodes_;
  const Warn warn_;
  std::unique_ptr<io::UdpTransport> udp_;
  node::Node* node_ = nullptr;
  TraceLog* trace_ = nullptr;
  std::optional<seal::KeyId> sending_;
  Refusals refusals_;
  SettingsNotice settings_notice_;
  Unreached unreached_;
  mutable bool held_ = false;  ///< congested() named a slow peer: the node holds back units
};

}  // namespace peal::runtime
