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
/// Few instances may be in progress, or be missing at the slowest member.
Options small_windows();
/// Makes an instance of the store decided: a unit of kOne with its number, of `size` bytes.
void put(Store& store, BufferPool& pool, Instance instance, std::uint32_t size);
/// kOne, which knows itself and two others, all acceptors, and has heard none of them.
Peers three_peers();
wire::ValueHead unit_head(const MemberId& origin, std::uint64_t number, std::uint64_t view = 1);
wire::ValueHead view_head(const MemberId& origin, std::uint64_t view);
/// The list of all engines of a bench, as the active one.
wire::Nodes first_nodes();
/// The life of each acceptor whose votes are on disk: the id of its log.
inline constexpr std::uint64_t kLog = wire::kLogBit | 0x10;
Bytes view_bytes(const std::vector<wire::ViewMember>& members);

/// A durable log in memory. Appended records become durable when the test says so.
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

  /// All appended records are durable, and dropped ones are gone.
  void sync();
  /// Records that are not durable are lost.
  void crash();
  void fail() { failure_ = port::LogFailure{"log", "input/output error"}; }
  void set_full(bool full) { full_ = full; }
  /// Records that it accepts until the next sync.
  void set_room(std::size_t records) { room_ = records; }
  /// There is space for small records only.
  void set_checkpoints_full(bool full) { checkpoints_full_ = full; }
  std::size_t kept() const { return records_.size(); }

 private:
  std::uint64_t id_ = 0x10;
  std::deque<Bytes> records_;
  std::uint64_t first_ = 1;  ///< position of the first that is kept
  std::uint64_t durable_ = 0;
  std::uint64_t keep_from_ = 1;
  bool full_ = false;
  std::size_t room_ = 1U << 20;
  bool checkpoints_full_ = false;
  std::optional<port::LogFailure> failure_;
};

/// One engine in a cluster of three, all acceptors; the test plays the others, the log's disk and
/// the clock.
class Bench final : public Host, public Effects {
 public:
  struct Sent {
    NodeId to{};  ///< 0: to all
    wire::PaxosKind kind{};
    Bytes bytes;
    Lane lane{};
    BufferRef packet;  ///< if keep_packets() was called
  };

  /// `self` is one of kOne, kTwo, kThree.
  explicit Bench(const MemberId& self, const Options& options = {},
                 Storage storage = Storage::disk);
  ~Bench() override;

  /// Votes on disk: the log says that an order has begun, and nothing is decided; unless the bench
  /// is fresh().
  void start();
  /// The log is empty, and no report of an order has come.
  void fresh() { fresh_ = true; }
  /// It is one of several ensembles; call it before start(). `merger` outlives this.
  void merge(Merger& merger) {
    merger_ = &merger;
    make();
  }
  /// The process dies, with all that was not durable, and starts again with the next epoch.
  void restart();
  /// All appended records of both logs are durable, and the engine is notified.
  void sync();
  /// Time passes; timers fire.
  void run(Duration span);
  void submit(std::string_view unit);
  /// Sent packets stay in flight, and must not be overwritten.
  void keep_packets() { keeps_packets_ = true; }
  /// Its interface as one of several ensembles.
  Ensemble& ensemble() { return static_cast<Ensemble&>(*engine); }
  std::size_t free_buffers() const { return pool_.free_count(); }

  static std::uint64_t cluster();

  // Packets of the others. An acceptor misses a coordinator that has been silent here.
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
  /// An acceptor's WORD; with a round of count 0 it did not vote.
  void word(const MemberId& from, const Round& round, Instance instance,
            const wire::ValueHead& head, std::string_view text);
  void checkpoint(const MemberId& from, const wire::Checkpoint& said);
  void lives(const MemberId& from, const wire::Lives& said);
  /// What another acceptor heard of this node's log before this incarnation. Each reports it with
  /// its first packet, and that it heard nothing, unless do_not_answer() was called.
  void log_heard(const MemberId& from, const std::vector<wire::LogHeard>& heard);
  void do_not_answer() { knows_logs_ = false; }
  /// STATE of an acceptor: it voted in the round for all up to an instance.
  void vote(const MemberId& from, const Round& round, Instance upto, Instance next = 1);
  /// Another node coordinates in round `count` of its own; instance 1 is view 1 of all three, and
  /// decided. Everything durable.
  Round join(const MemberId& leader, std::uint64_t count = 1);
  /// This node, which is node 1, starts, and its first Phase 1 begins, in a cluster that knows
  /// nothing yet, and of which it hears these nodes. Returns the count of its round; 0, with a
  /// failure of the test, if none began.
  std::uint64_t begin_phase_one(std::initializer_list<MemberId> heard = {kTwo});
  /// This node, which is node 1, starts and coordinates; view 1 of all three is decided. Its round.
  Round lead();

  std::uint64_t count(wire::PaxosKind kind) const;
  /// Values of this kind that were proposed to all.
  std::uint64_t proposed(wire::ValueKind kind) const;
  /// The last of this kind, or null.
  const Sent* last(wire::PaxosKind kind) const;
  wire::State last_state() const;
  std::uint64_t counter(std::string_view name) const;
  std::string told() const;  ///< the lines of `log`, joined by ", "

  // Host, Effects
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
  MemoryLog owed;  ///< what excluded members are owed
  std::unique_ptr<Engine> engine;
  Instant now{1'000'000'000};
  std::vector<Sent> sent;
  /// "view 1 123", "trans 1", "2:text", "early 2:text", "fatal"; a view that does not claim to be
  /// primary says so.
  std::vector<std::string> log;
  std::vector<Event> events;
  std::uint32_t room = 1U << 20;
  std::uint32_t unit_bytes = 0;  ///< the largest unit, by the engine's last call

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
  std::map<MemberId, Instant> spoke_;  ///< when each last said anything
  BufferPool pool_{8'192, 16'384};
  std::deque<Bytes> queue_;
};

/// The engine's answer to a RECALL of `from`: "7:text", "8 no vote", and for instances that it
/// knows to be decided "9 decided".
std::string words_of(Bench& bench, const MemberId& from, Instance first, std::uint16_t count);

}  // namespace peal::order::paxos::test
