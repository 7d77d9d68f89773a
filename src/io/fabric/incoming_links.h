// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/fabric/incoming_link.h"
#include "io/stream_listener.h"

namespace peal::io::fabric {

/// This process as the owner of memory: the connections of all writers. Each node has one at most:
/// the last one that proved that it has the key. Before that, connections are few, and have little
/// time. Thread: the loop's.
class IncomingLinks {
 public:
  static constexpr std::size_t kHandshakesMax = 64;
  static constexpr std::uint32_t kAcceptsPerTurn = 16;
  /// Bytes read per turn; the last read may exceed this limit.
  static constexpr std::size_t kTurnBytes = 1U << 20;

  /// The arguments must outlive this object.
  IncomingLinks(const Options& options, Regions& regions, Counters& counters, Offences& offences,
                VerbsUse& verbs)
      : options_(options),
        regions_(regions),
        counters_(counters),
        offences_(offences),
        verbs_(verbs) {}
  ~IncomingLinks();

  /// Opens the listening sockets that the options name. Errors: as StreamListener.
  Result<void, IoError> listen();
  Result<void, IoError> attach(Loop& loop);
  /// Where it listens for tcp; unspecified: nowhere.
  Endpoint at() const;
  /// Why processes of this machine cannot share memory with this one, or empty.
  const std::string& problem() const { return problem_; }

  /// Accepts and reads. True if there may be more to read.
  bool receive(Instant now);
  /// Hands queued records to the kernel.
  void flush();
  std::optional<Instant> next_deadline() const;
  /// Nodes that connected since the last call.
  std::vector<NodeId> take_new() { return std::exchange(new_, {}); }
  void on_keys();

  /// Tells the writer of the region, if it is connected by shm or verbs.
  void expose(const Regions::Exposure& exposure);
  /// Call these before the region itself is revoked or dropped: with verbs, the device may write to
  /// it until then.
  void revoke(const Regions::Exposure& exposure);
  void withdraw(const Regions::Exposure& exposure);

  bool has_arrivals() const;
  bool take_arrivals();
  void arm();
  void disarm();
  Kind kind_of(NodeId node) const;

 private:
  struct Door {
    std::unique_ptr<StreamListener> listener;
    bool knocked = true;
  };
  void accept_some(Instant now);
  void take_in(Instant now, const Door& door, std::unique_ptr<Stream> stream);
  bool is_known_source(const StreamPeer& peer) const;
  void give_place();
  void admit(IncomingLink& link);
  IncomingLink* link_of(NodeId node) const;
  bool serves(const IncomingLink& link, const port::Region& region) const;
  void sweep(Instant now);

  const Options& options_;
  Regions& regions_;
  Counters& counters_;
  Offences& offences_;
  VerbsUse& verbs_;
  Loop* loop_ = nullptr;
  std::vector<Door> doors_;
  std::string problem_;
  std::optional<Instant> accept_again_;  ///< no accept() before; the machine lacked resources
  std::vector<std::unique_ptr<IncomingLink>> links_;  ///< older ones first
  std::size_t next_ = 0;                              ///< the link to read first in the next turn
  std::vector<NodeId> new_;
  bool arrived_ = false;  ///< by a link that is gone
};

}  // namespace peal::io::fabric
