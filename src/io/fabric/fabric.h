// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "io/fabric/ends.h"
#include "io/fabric/incoming_links.h"
#include "io/fabric/offences.h"
#include "io/fabric/options.h"
#include "io/fabric/outgoing_link.h"
#include "io/fabric/regions.h"
#include "io/fabric/status.h"
#include "io/fabric/verbs.h"
#include "io/loop.h"
#include "io/polled_memory.h"
#include "port/memory.h"

namespace peal::io::fabric {

/// The memory of one process: port::Memory on shared memory (shm) for peers on this machine, on
/// RDMA (verbs) for others that have it, and on streams (tcp) for the rest. README.md says how it
/// works and how a node uses it. In short:
///
///     auto fabric = Fabric::open(options);      // listens
///     fabric->attach(loop);                     // the loop polls it and wakes up for it
///     // LoopHost::on_sockets, first:
///     progress.more |= fabric->receive(now);    // connects, accepts, reads
///     if (fabric->take_news()) engine.on_memory(now, effects);
///     // LoopHost::on_turn_end, after the trace was written:
///     fabric->flush(now);                       // the turn's writes leave
///     // LoopHost::next_deadline: also fabric->next_deadline()
///
/// To shut down, destroy it before the loop. Peers see their writes end as down.
///
/// Thread: the loop's. Allocates nothing per write once its queues have grown.
class Fabric final : public port::Memory, public PolledMemory {
 public:
  /// Errors: invalid_option (no socket path for shm, no address for tcp, no RDMA for verbs, a bad
  /// path),
  /// address_in_use, not_permitted, system. The message is one line with the remedy. `open_device`
  /// opens the RDMA device if the options allow one.
  static Result<std::unique_ptr<Fabric>, IoError> open(Options options,
                                                       VerbsOpener open_device = &Verbs::open);
  ~Fabric() override;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// `loop` reports what there is to do from now on; it must outlive this object. Without it, each
  /// receive() looks everywhere. Call it first.
  Result<void, IoError> attach(Loop& loop);

  // port::Memory.
  Result<void, Errc> expose(const port::Region& region, port::Epoch epoch,
                            std::size_t bytes) override;
  void revoke(const port::Region& region) override;
  void drop(const port::Region& region) override;
  bool load(const port::Region& region, std::uint64_t offset, ByteSpan to) const override {
    return regions_.load(region, offset, to);
  }
  void write(const port::Place& place, ByteView bytes, std::uint64_t token) override;
  bool next_done(port::WriteDone& out) override { return ends_.next(out); }

  // What the node calls in each turn.

  /// Connects, accepts and reads. True if there is more to read: do not sleep.
  bool receive(Instant now);
  /// True if writes arrived since the last call, or if there are completions.
  bool take_news();
  /// There are completions.
  bool has_ends() const { return !ends_.empty(); }
  /// The turn has ended: its writes leave.
  void flush(Instant now);
  /// When to call receive() without another reason.
  std::optional<Instant> next_deadline() const;

  // PolledMemory.
  bool has_news() const override;
  bool prepare_sleep() override;
  void end_sleep() override;

  /// New keys. Connections with a key that is not among them end.
  void set_keys(Instant now, std::optional<seal::Keys> keys);
  /// The peer's address has changed.
  void set_address(Instant now, NodeId peer, const Endpoint& at);

  const Counters& counters() const { return counters_; }
  std::vector<PeerStatus> status() const;
  /// Why the last expose() failed, or why there is no shared memory: one line.
  const std::string& problem() const {
    return regions_.problem().empty() ? incoming_.problem() : regions_.problem();
  }
  /// Why RDMA is not used, though the options allow it: one line with the remedy, or empty.
  const std::string& verbs_problem() const { return verbs_.problem; }
  /// verbs_problem(), if this machine has an RDMA device that cannot be used, and a peer is reached
  /// by tcp, or by nothing, therefore. Else empty.
  const std::string& verbs_failure() const;
  /// What a peer did against the rules, once for each of its incarnations and reason.
  std::optional<Offence> take_offence() { return offences_.take(); }
  /// Where it listens for tcp, with the actual port; unspecified: nowhere.
  Endpoint at() const { return incoming_.at(); }

 private:
  Fabric(Options options, VerbsOpener open_device);
  OutgoingLink* link_to(NodeId peer);

  Options options_;
  Counters counters_;
  Offences offences_;
  Ends ends_;
  WriteCounters unknown_;  ///< of writes to processes that are no peers
  VerbsUse verbs_;
  Regions regions_;
  IncomingLinks incoming_;
  std::vector<std::unique_ptr<OutgoingLink>> outgoing_;  ///< in the order of Options::peers
  Loop* loop_ = nullptr;
  bool asleep_ = false;
};

}  // namespace peal::io::fabric
