// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "order/paxos/ensemble.h"
#include "order/paxos/options.h"
#include "order/paxos/order_state.h"
#include "order/paxos/peers.h"
#include "order/paxos/store.h"
#include "port/log.h"
#include "wire/paxos.h"

namespace peal::order::paxos::test {

using Bytes = std::vector<std::byte>;

inline constexpr MemberId kOne{{1}, 100}, kTwo{{2}, 100}, kThree{{3}, 100};

Bytes bytes_of(std::string_view text);
/// Options with low limits: few instances may be in progress, or be missing at the slowest member.
Options small_windows();
/// Adds a decided value to the store: a unit of kOne of `size` bytes. The unit's number is
/// `instance`.
void put(Store& store, BufferPool& pool, Instance instance, std::uint32_t size);
/// The peers of kOne. All three nodes are acceptors; kOne has heard neither of the other two.
Peers three_peers();
wire::ValueHead unit_head(const MemberId& origin, std::uint64_t number, std::uint64_t view = 1);
wire::ValueHead view_head(const MemberId& origin, std::uint64_t view);
/// The active list of nodes in a bench: three nodes, all acceptors.
wire::Nodes first_nodes();
/// The incarnation of each acceptor with votes on disk, which is the id of its log.
inline constexpr std::uint64_t kLog = wire::kLogBit | 0x10;
Bytes view_bytes(const std::vector<wire::ViewMember>& members);

/// A durable log, simulated in memory. Appended records become durable at sync().
class MemoryLog final : public port::Log {
 public:
  Result<void, port::LogFailure> replay(port::LogReader& reader) override;
  using port::Log::append;
  Result<LogPosition, Errc> append(ByteView first, ByteView rest) override;
  Result<LogPosition, Errc> checkpoint(ByteView record, LogPosition keep_from) override;
  std::uint64_t id() const override { return id_; }
  LogPosition last() const override { return {first_ + records_.size() - 1}; }
  LogPosition durable() const override { return {durable_}; }
  const std::optional<port::LogFailure>& failure() const override { return failure_; }

  /// Makes all appended records durable, and removes those that the last checkpoint replaces.
  void sync();
  /// Loses the records that are not durable.
  void crash();
  void fail() { failure_ = port::LogFailure{"log", "input/output error"}; }
  void set_full(bool full) { full_ = full; }
  /// Limits the number of records that are not yet durable.
  void set_room(std::size_t records) { room_ = records; }
  /// `full`: the log refuses checkpoints, but not other records.
  void set_checkpoints_full(bool full) { checkpoints_full_ = full; }
  std::size_t kept() const { return records_.size(); }

 private:
  std::uint64_t id_ = 0x10;
  std::deque<Bytes> records_;
  std::uint64_t first_ = 1;  ///< position of the first record that is kept
  std::uint64_t durable_ = 0;
  std::uint64_t keep_from_ = 1;
  bool full_ = false;
  std::size_t room_ = 1U << 20;
  bool checkpoints_full_ = false;
  std::optional<port::LogFailure> failure_;
};

/// One engine in a cluster of three acceptors. The test plays the other two nodes, the log's disk
/// and the clock.
class Bench final : public Host, public Effects {
 public:
  struct Sent {
    NodeId to{};  ///< the receiver; 0: all nodes
    wire::PaxosKind kind{};
    Bytes bytes;
    Lane lane{};
    BufferRef packet;  ///< null unless keep_packets() was called
  };

  /// `self` is one of kOne, kTwo, kThree.
  explicit Bench(const MemberId& self, const Options& options = {},
                 Storage storage = Storage::disk);
  ~Bench() override;

  /// Starts the engine. With votes on disk, an empty log first gets the checkpoint of an order in
  /// which nothing is decided, unless the bench is fresh().
  void start();
  /// Call it before start(): the log is empty, and no other node reports an order.
  void fresh() { fresh_ = true; }
  /// Makes the engine one of several ensembles; call it before start(). `merger` must outlive the
  /// bench.
  void merge(Merger& merger) {
    merger_ = &merger;
    make();
  }
  /// The process crashes and loses the records that are not durable. It restarts with the next
  /// epoch.
  void restart();
  /// Makes all appended records of both logs durable, and notifies the engine.
  void sync();
  /// Advances the clock by `span`; timers fire when they are due.
  void run(Duration span);
  void submit(std::string_view unit);
  /// From now on, `sent` refers to the buffers of sent packets: the engine must not overwrite them.
  void keep_packets() { keeps_packets_ = true; }
  /// The engine's interface as one of several ensembles.
  Ensemble& ensemble() { return static_cast<Ensemble&>(*engine); }
  std::size_t free_buffers() const { return pool_.free_count(); }

  static std::uint64_t cluster();

  // Packets of the other nodes arrive. state() sets State::misses if no packet of the round's
  // coordinator has arrived for the time Options::suspect.
  void hear(const Bytes& packet);
  void state(const MemberId& from, const wire::State& said);
  void list(const NodeList& nodes) { engine->set_nodes(now, nodes, *this); }
  void prepare(const MemberId& from, std::uint64_t count, Instance first = 1);
  void promise(const MemberId& from, const wire::Promise& said);
  void propose(const MemberId& from, std::uint64_t count, Instance instance,
               const wire::ValueHead& head, std::string_view text = {}, Instance decided = 0);
  void propose_view(const MemberId& from, std::uint64_t count, Instance instance,
                    std::uint64_t number, const std::vector<wire::ViewMember>& members,
                    Instance decided = 0);
  void decided(const MemberId& from, Instance instance, const wire::ValueHead& head,
               std::string_view text = {});
  void decided_view(const MemberId& from, Instance instance, std::uint64_t number,
                    const std::vector<wire::ViewMember>& members);
  void submitted(const MemberId& from, std::uint64_t number, std::string_view text);
  void value(wire::PaxosKind kind, const MemberId& from, const wire::ValueFrame& frame,
             ByteView bytes);
  void lacks(const MemberId& from, const wire::Lacks& said);
  void repeat(const MemberId& from, Instance first, std::uint16_t count);
  void fetch(const MemberId& from, const Round& round, Instance instance);
  void fetched(const MemberId& from, const Round& round, Instance instance,
               const wire::ValueHead& head, std::string_view text);
  void recall(const MemberId& from, Instance first, std::uint16_t count);
  /// An acceptor's WORD about an instance. A round of count 0: the acceptor did not vote.
  void word(const MemberId& from, const Round& round, Instance instance,
            const wire::ValueHead& head, std::string_view text);
  void checkpoint(const MemberId& from, const wire::Checkpoint& said);
  void lives(const MemberId& from, const wire::Lives& said);
  /// Another acceptor reports what it heard of this node's log before this incarnation. Unless
  /// do_not_answer() was called, each acceptor reports before its first STATE that it heard
  /// nothing.
  void log_heard(const MemberId& from, const std::vector<wire::LogHeard>& heard);
  void do_not_answer() { knows_logs_ = false; }
  /// STATE of an acceptor that voted in the round for all instances up to `upto`.
  void vote(const MemberId& from, const Round& round, Instance upto, Instance next = 1);
  /// `leader` coordinates, in the round with this count. Instance 1 is decided: view 1 of all three
  /// nodes. All records are durable. Returns the round.
  Round join(const MemberId& leader, std::uint64_t count = 1);
  /// This node, which is node 1, starts while nothing is decided, and hears the nodes `heard`,
  /// until it begins Phase 1 of its first round. Returns the count of that round. If no round
  /// begins, the test fails and the count is 0.
  std::uint64_t begin_phase_one(std::initializer_list<MemberId> heard = {kTwo});
  /// This node, which is node 1, starts and coordinates; view 1 of all three nodes is decided.
  /// Returns the round.
  Round lead();

  std::uint64_t count(wire::PaxosKind kind) const;
  /// How many values of this kind were proposed to all nodes.
  std::uint64_t proposed(wire::ValueKind kind) const;
  /// The last sent packet of this kind, or null.
  const Sent* last(wire::PaxosKind kind) const;
  wire::State last_state() const;
  std::uint64_t counter(std::string_view name) const;
  std::string told() const;  ///< the lines of `log`, joined by ", "

  // Overrides of Host and Effects.
  std::uint32_t backlog_units() const override { return static_cast<std::uint32_t>(queue_.size()); }
  bool next_unit(std::uint32_t unit_bytes_max, Unit& out) override;
  std::uint32_t receive_room_units() const override { return room; }
  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override { send({}, lane, packet); }
  void originate(const ViewId& view, Seq seq) override;
  void deliver(const Delivery& delivery) override;
  void opt_deliver(const Delivery& early) override;
  void install(const View& view) override;
  void report(const Event& event) override;
  void fatal(std::string_view reason) override;

  MemberId self;
  MemoryLog disk;
  MemoryLog owed;  ///< the log of the values that are retained for excluded members
  std::unique_ptr<Engine> engine;
  Instant now{1'000'000'000};
  std::vector<Sent> sent;
  /// Lines such as "view 1 123", "trans 1", "2:text", "own 2", "early 2:text" and "fatal". The line
  /// of a view that is not primary ends with "not primary".
  std::vector<std::string> log;
  std::vector<Event> events;
  std::uint32_t room = 1U << 20;
  std::uint32_t unit_bytes = 0;  ///< `unit_bytes_max` of the last next_unit()

 private:
  Merger* merger_ = nullptr;
  template <class Encode>
  void say(const MemberId& from, Encode encode);
  wire::Header header(const MemberId& from) const;
  void introduce(const MemberId& coordinator);
  void make();
  bool misses(const MemberId& from, const Round& round) const;

  void begin_order();

  Options options_;
  Storage storage_;
  bool fresh_ = false;
  bool keeps_packets_ = false;
  bool knows_logs_ = true;
  std::vector<MemberId> introduced_;
  std::map<MemberId, Instant> spoke_;  ///< when each other member last sent a packet
  BufferPool pool_{8'192, 16'384};
  std::deque<Bytes> queue_;
};

/// The engine's answers to a RECALL of `from`: "7:text" for a vote, "8 no vote", and "9 decided"
/// for an instance that the engine knows to be decided.
std::string words_of(Bench& bench, const MemberId& from, Instance first, std::uint16_t count);

}  // namespace peal::order::paxos::test
