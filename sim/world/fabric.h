// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "port/memory.h"
#include "sim/world/schedule.h"

namespace peal::sim {

/// How writes to memory travel, and what may go wrong.
struct FabricOptions {
  Duration write_least = nanoseconds(1'500), write_most = nanoseconds(2'000);
  Duration done_least = nanoseconds(500), done_most = nanoseconds(1'500);
  Duration per_kilobyte = nanoseconds(300);
  Duration down_after = milliseconds(2);  ///< a write to an owner that is gone or cut off ends then
  double slow = 0;                        ///< probability that a write takes `slow_most`
  Duration slow_most = milliseconds(1);
  std::size_t segment_bytes = 64;  ///< what is applied at once: 8, 64 or 256
  enum class Tear : std::uint8_t { never, ascending, descending, random };
  Tear tear = Tear::ascending;  ///< the order in which the segments of a write appear

  // What the contract of port::Memory forbids, to show that somebody notices.

  /// A revocation stops only writes that leave later. Others end as `ok` for so long.
  Duration lazy_revocation{};
  bool early_ok = false;  ///< a write ends as `ok` before its bytes are there
};

struct FabricCounts {
  std::uint64_t writes = 0, bytes = 0, torn = 0, ok = 0, denied = 0, down = 0, lost_at_crash = 0,
                lazy = 0;
};

class SimMemory;

/// With a network model: the way of a write from its writer's card to the memory.
class Carrier {
 public:
  virtual ~Carrier() = default;
  /// The card of `from` gets a write at `ready`. Returns when its first bytes reach the switch.
  virtual Instant depart(NodeId from, Instant ready, std::size_t bytes) = 0;
  /// Called at that time. Returns when all bytes are in the memory of `to`.
  virtual Instant pass(NodeId to, Instant now, std::size_t bytes) = 0;
};

/// The memories of all processes of a world, and the writes between them. Each (writer, owner,
/// region) is a channel, which keeps the order of its writes.
class Fabric {
 public:
  /// True if the link between two nodes carries writes and completions in this direction.
  using Links = std::function<bool(NodeId from, NodeId to)>;

  /// `links`: null if all links work.
  Fabric(Schedule& schedule, std::uint64_t seed, const FabricOptions& options, Links links = {})
      : schedule_(schedule), random_(seed), options_(options), links_(std::move(links)) {}
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// A process starts. `notify` is called when a write arrived in its memory, or one of its writes
  /// ended. The memory must end before the fabric.
  std::unique_ptr<SimMemory> attach(const MemberId& self, std::function<void()> notify);

  /// No write travels from `from` to `to` until the link is healed.
  void cut(NodeId from, NodeId to) { cuts_.insert({from, to}); }
  void heal(NodeId from, NodeId to) { cuts_.erase({from, to}); }
  /// The same for writes into one region.
  void cut(NodeId from, NodeId to, std::uint8_t region) { region_cuts_.insert({from, to, region}); }
  void heal_all() {
    cuts_.clear();
    region_cuts_.clear();
  }
  FabricOptions& options() { return options_; }
  /// Writes take the time that `carrier` says. It must outlive the fabric.
  void carry_by(Carrier& carrier) { carrier_ = &carrier; }

  /// Called for each write that leaves, before it arrives.
  using Observer = std::function<void(const MemberId& from, const port::Place&, ByteView)>;
  void observe(Observer observer) { observer_ = std::move(observer); }
  const FabricCounts& counts() const { return counts_; }

 private:
  friend class SimMemory;
  struct Exposure {
    port::Epoch epoch{};
    std::vector<std::byte> bytes;
    bool exposed = false;
    Instant revoked{};         ///< when; only with lazy revocation
    Instant writable_until{};  ///< the same
  };
  struct Flight {
    port::Place place;
    std::vector<std::byte> bytes;
    std::uint64_t token{};
    Instant left{};
    Instant starts{};                   ///< no segment is applied before
    std::vector<std::size_t> segments;  ///< offsets, in the order in which they are applied
    std::size_t applied = 0;
    bool told = false;  ///< its completion is planned
  };
  struct Channel {
    MemberId writer{};
    MemberId owner{};
    std::deque<Flight> flights;
    Instant free{};       ///< when the last planned segment is applied
    Instant last_done{};  ///< when the last planned completion comes
    bool running = false;
    std::optional<std::size_t> segments_left;  ///< of a writer that crashed
  };
  using ChannelKey = std::pair<std::pair<MemberId, MemberId>, std::uint8_t>;

  void send(const MemberId& from, Flight flight, Instant ready);
  void cut_up(Flight& flight);
  void send_by(Carrier& carrier, const MemberId& from, Flight flight, Instant ready);
  void enqueue(const MemberId& from, Flight flight);
  void run(const ChannelKey& key);
  void step(const ChannelKey& key, Channel& channel);
  bool apply(Channel& channel, Flight& flight);
  void end(Channel& channel, Flight& flight, port::WriteEnd end, Instant at);
  void detach(const MemberId& self);
  bool carries(NodeId from, NodeId to) const {
    return !cuts_.contains({from, to}) && (links_ == nullptr || links_(from, to));
  }
  bool is_cut(const ChannelKey& key) const {
    const NodeId from = key.first.first.node, to = key.first.second.node;
    return !carries(from, to) || region_cuts_.contains({from, to, key.second});
  }
  SimMemory* memory_of(const MemberId& member);
  Duration draw(Duration least, Duration most) { return {random_.between(least.ns, most.ns)}; }

  Schedule& schedule_;
  Random random_;
  FabricOptions options_;
  const Links links_;
  Observer observer_;
  Carrier* carrier_ = nullptr;  ///< null: FabricOptions say how long writes take
  FabricCounts counts_;
  std::map<MemberId, SimMemory*> memories_;
  std::map<ChannelKey, Channel> channels_;
  std::set<std::pair<NodeId, NodeId>> cuts_;
  std::set<std::tuple<NodeId, NodeId, std::uint8_t>> region_cuts_;
};

/// The memory of one process. It ends with the process: writes to it go nowhere, and its own writes
/// stop anywhere.
class SimMemory final : public port::Memory {
 public:
  SimMemory(Fabric& fabric, const MemberId& self, std::function<void()> notify)
      : fabric_(fabric), self_(self), notify_(std::move(notify)) {}
  ~SimMemory() override { fabric_.detach(self_); }

  Result<void, Errc> expose(const port::Region& region, port::Epoch epoch,
                            std::size_t bytes) override;
  void revoke(const port::Region& region) override;
  void drop(const port::Region& region) override;
  bool load(const port::Region& region, std::uint64_t offset, ByteSpan to) const override;
  void write(const port::Place& place, ByteView bytes, std::uint64_t token) override;
  bool next_done(port::WriteDone& out) override;

  /// The writes since the last call leave, or the first `most` of them: the turn of the engine has
  /// ended.
  void flush(std::size_t most = ~std::size_t{0});
  bool writes_wait() const { return !waiting_.empty(); }
  /// The first write leaves; with a carrier, at `ready`.
  void flush_first(Instant ready);
  std::size_t first_bytes() const { return waiting_.front().bytes.size(); }
  /// For tests: these bytes are in a region of this process at once, whoever wrote them.
  void put(const port::Region& region, std::uint64_t offset, ByteView bytes);
  /// Bytes of all regions; expose() fails above the limit.
  void limit(std::size_t bytes_max) { bytes_max_ = bytes_max; }
  std::size_t bytes() const;

 private:
  friend class Fabric;
  Fabric& fabric_;
  const MemberId self_;
  std::function<void()> notify_;
  const Fabric::Exposure* find(const port::Region& region) const;

  std::map<port::Region, Fabric::Exposure> regions_;
  /// The regions that were looked for last. Engines look at the same ones all the time.
  struct Found {
    port::Region region;
    const Fabric::Exposure* exposure = nullptr;
  };
  mutable std::array<Found, 256> found_{};
  std::deque<Fabric::Flight> waiting_;
  std::deque<port::WriteDone> done_;
  std::size_t bytes_max_ = ~std::size_t{0};
};

}  // namespace peal::sim
