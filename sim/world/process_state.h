// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/time.h"
#include "order/engine.h"
#include "order/vocabulary.h"
#include "trace/event.h"

// The parts of a process's state, by responsibility. Times are world times.

namespace peal::sim {

/// When the processor runs a node, and how long each run takes.
struct Processor {
  bool run_planned = false;
  std::optional<Instant> timer_planned;
  Instant busy_until{};
  Instant paused_at{};
  std::int64_t slowness = 1;
  std::uint32_t reads_since_timer = 0;
  bool control_next = false;  ///< data and control lanes alternate; control was read last
  Duration charged{};         ///< cost of the running call in the network model
  Duration charged_after{};   ///< the same, of work that delays nothing that the call sends
  Duration worked{};          ///< processor time so far

  void charge(Duration work) { charged = charged + work; }
  /// Keeps the processor busy with `work` from `now` on.
  void work_for(Duration work, Instant now) {
    busy_until = now + work * slowness;
    worked = worked + work * slowness;
    charged = charged_after = {};
  }
};

/// The state of a process's network interface.
struct Sending {
  Instant free_at{};              ///< time at which the interface is free to send again
  std::uint64_t until_crash = 0;  ///< packets left until a planned crash; 0: no crash is planned
  std::uint32_t in_call = 0;      ///< packets sent in the running call
  std::vector<NodeId> destinations;
};

/// How fast the simulated application reads.
struct Application {
  std::uint32_t room_units = 0;  ///< maximum number of units that the application buffers
  std::uint32_t room_used = 0;   ///< units that the application has not read
  Duration consume_every{};      ///< time to read one unit; 0: units are read at once
  bool consume_planned = false;

  std::uint32_t free_units() const { return room_units > room_used ? room_units - room_used : 0; }
};

/// The messages that a process has submitted to its node.
struct Submissions {
  struct Pending {
    std::uint64_t number = 0;
    std::uint64_t hash = 0;
    std::uint64_t bytes = 0;
    Service service = Service::agreed;
    DomainSet domains{};
    bool announced = true;
  };
  Pending pending;
  std::vector<Pending> before_first_view;  ///< recorded again if the epoch is corrected
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
};

/// What a node reported about its view.
struct NodeStatus {
  bool operational = false;  ///< true from view_installed to gather_started
  bool recovering = false;
  bool committing = false;
  std::optional<ViewId> view;  ///< the last regular view
  std::vector<MemberId> members;
  std::uint64_t views = 0;  ///< number of regular views
  Seq last_seq = 0;         ///< last position delivered in `view`
  /// How far the node has delivered one domain in `view`.
  struct Reached {
    Seq seq = 0;
    Digest digest;
    std::uint64_t causal = 0;  ///< sum over the delivered units without a position
  };
  std::array<Reached, kDomainMax + 1> reached;  ///< by domain
  std::uint64_t list = 0;                       ///< hash of the node's active list of nodes
  std::string fatal_reason;

  bool is_in(const ViewId& other) const { return view && *view == other; }
};

/// Work done, for checks of its bounds.
struct WorkCounts {
  std::uint64_t calls = 0;
  std::uint32_t effects_in_call = 0;   ///< effects of the running call, of any kind
  std::uint64_t idle_timer_calls = 0;  ///< on_timer without any effect
  Instant idle_from{};                 ///< start of the second that idle_in_second counts
  std::uint64_t idle_in_second = 0;    ///< idle timer calls in that second
  std::uint64_t packets_sent = 0;
  std::uint64_t data_bytes_sent = 0;
  std::uint64_t unit_bytes_originated = 0;
  std::uint64_t units_delivered = 0;
  std::uint64_t messages_delivered = 0;
  std::uint64_t own_delivered = 0;  ///< deliveries of the process's own messages
  std::uint64_t own_placed = 0;     ///< own messages of which the process knows the places
  std::map<const order::EventKind*, std::uint64_t> events_seen;
};

}  // namespace peal::sim
