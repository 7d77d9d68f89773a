// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.h"
#include "order/toto/outlet.h"
#include "order/toto/parts.h"

namespace peal::order::toto {

/// Makes this member's nodes: units of the node, and control nodes that acknowledge.
///
/// A node with a unit is due an acknowledgement of every other member: any node
/// that follows it. A member with units acknowledges by these; a member without sends a control
/// node, in the same turn if the rate of acknowledgements allows.
class Sender {
 public:
  Sender(const Parts& parts, Outlet& outlet) : p_(parts), outlet_(outlet) {}

  void begin_view();
  /// This process did not run for so long that the others may have gone on without this member.
  void doubt_view() { view_in_doubt_ = !p_.alone(); }
  /// Another member is in this view now.
  void trust_view() { view_in_doubt_ = false; }
  /// A node of any member has joined the graph, and the outlet knows it.
  void on_joined(const Joined& joined);
  /// The end of a turn: sends what is ready. Arms timers for the rest.
  void turn(Instant now, Effects& out);
  /// Whether turn() has something to do now.
  bool has_work() const;
  /// The window is full, and units wait.
  bool is_blocked() const;
  /// Units wait for a sign that other members are still in the view; see doubt_view().
  bool doubts_view() const { return view_in_doubt_; }
  /// There was no buffer for the last node that this member tried to make.
  bool lacks_buffers() const { return no_buffer_; }
  std::uint32_t unit_bytes_max() const;

  void check_invariants() const;

 private:
  bool owes() const { return owes_ || outlet_.owes_evidence(); }
  bool may_send_unit() const;
  bool send_control(Instant now, Effects& out);
  void send_unit(Unit unit, Effects& out);
  void finish(const wire::Node& node, const BufferRef& packet, Effects& out);
  void acknowledge(Instant now, Effects& out);

  Parts p_;
  Outlet& outlet_;
  bool owes_ = false;  ///< a node is due this member's acknowledgement
  /// Units wait: in a view without other members, this member alone would deliver them.
  bool view_in_doubt_ = false;
  bool no_buffer_ = false;
  Instant next_ack_{};  ///< when the rate allows the next control node
};

}  // namespace peal::order::toto
