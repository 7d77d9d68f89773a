// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/paxos/company.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Watches the disk of this node, and the links between nodes: whether this node's log hangs, which
/// nodes hear each other, and which of them should be in one view.
class LinkWatch {
 public:
  explicit LinkWatch(const Parts& parts) : p_(parts) {}

  void start(Instant now) { disk_moved_at_ = now; }
  /// This process was suspended for a while; the disk did not hang.
  void forgive(Instant now) { disk_moved_at_ = now; }
  /// Call it once per heartbeat.
  void look(Instant now);
  /// As look(), but only for the disk. Call it while this incarnation must not send packets yet.
  void look_at_disk(Instant now);
  /// The number of the next heartbeat.
  std::uint32_t next_beat() { return ++beats_; }
  /// Sends a link check to each peer, if one is due in this heartbeat.
  void check(Effects& out);
  wire::Drop on_check(Peer& from, const BufferRef& packet);

  /// True if the log of this engine has records to write, but has made none durable for a long
  /// time.
  bool disk_hangs() const { return disk_hangs_; }
  /// True if the disk hangs according to this or another ensemble; STATE reports this. Several
  /// ensembles share a disk, and an ensemble with nothing to write does not notice that the disk
  /// hangs.
  bool says_that_disk_hangs() const;
  const Company& company() const { return company_; }
  /// The number of listed nodes of which only some packets arrive.
  std::uint64_t failing() const;

  void check_invariants() const;

 private:
  Parts p_;
  Company company_;
  std::uint32_t beats_ = 0;  ///< number of heartbeats sent so far
  bool disk_hangs_ = false;
  LogPosition disk_at_{};    ///< the log was durable up to this position at the last look
  Instant disk_moved_at_{};  ///< when the log last made progress, or had nothing to write
};

}  // namespace peal::order::paxos
