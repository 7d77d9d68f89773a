// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "explore_node.h"
#include "order/engine.h"
#include "order/paxos/engine.h"
#include "port/log.h"

namespace peal::order::test {

/// A log in memory. Appended records become durable at sync().
class MemoryLog final : public port::Log {
 public:
  Result<void, port::LogFailure> replay(port::LogReader& reader) override;
  using port::Log::append;
  Result<LogPosition, Errc> append(ByteView first, ByteView rest) override;
  Result<LogPosition, Errc> checkpoint(ByteView record, LogPosition keep_from) override;
  std::uint64_t id() const override { return id_; }
  LogPosition last() const override { return {records_.size()}; }
  LogPosition durable() const override { return {durable_}; }
  const std::optional<port::LogFailure>& failure() const override { return none_; }

  const std::vector<std::vector<std::byte>>& records() const { return records_; }
  void sync() { durable_ = records_.size(); }
  void crash() { records_.resize(durable_); }
  void set_id(std::uint64_t id) { id_ = id; }

 private:
  std::uint64_t id_ = 1;
  std::vector<std::vector<std::byte>> records_;
  std::size_t durable_ = 0;
  std::optional<port::LogFailure> none_;
};

/// One node with its disk. The constructor starts the node for the first time.
class ReplayedNode final : public Effects, public Host {
 public:
  ReplayedNode(Shared& shared, std::uint32_t node);

  /// False: the input is not possible in this state, or exceeds the limits.
  bool apply(Input input);
  /// Requests the decided values from the engine; call no other function afterwards. Leaves
  /// `before`, `input`, `depth` and `nexts` of `out` to the caller. Returns the digest of all state
  /// that affects later behaviour.
  std::uint64_t finish(NodeState& out);

  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override;
  void originate(const ViewId& /*view*/, Seq /*seq*/) override {}
  void deliver(const Delivery& /*delivery*/) override {}
  void install(const View& /*view*/) override {}
  void report(const Event& /*event*/) override {}
  void fatal(std::string_view reason) override;
  std::uint32_t backlog_units() const override { return units_; }
  bool next_unit(std::uint32_t unit_bytes_max, Unit& out) override;
  std::uint32_t receive_room_units() const override { return 64; }

 private:
  bool acceptor() const { return node_ <= kAcceptors; }
  void start();
  void begin();
  bool act(Input input);
  void write_all();
  void lose_disk();
  void learn_the_order();
  void receive(ByteView bytes);
  void hear(std::uint32_t node);
  void take(const Mail::Packet& packet);
  std::uint64_t elections() const;
  void record(std::uint32_t to, const BufferRef& packet);
  void post(std::uint32_t to, wire::PaxosKind kind, std::vector<std::byte> bytes);
  std::vector<std::byte> without_times(wire::State state) const;
  void look_at_log();
  void note_said(const wire::Round& round, const char* what);
  void add_log_to(Digest& digest) const;

  Shared& shared_;
  std::uint32_t node_;
  BufferPool& pool_;
  MemoryLog log_;
  std::optional<paxos::PaxosEngine> engine_;
  Instant now_{1'000'000'000};
  std::uint64_t epoch_ = 1;
  /// The highest epoch of each acceptor from which a packet arrived.
  std::array<std::uint64_t, kAcceptors> heard_{1, 1, 1};
  std::uint32_t units_ = 0;
  std::uint32_t rounds_ = 0;
  std::size_t looked_at_ = 0;     ///< how many records of the log were checked
  std::size_t durable_upto_ = 0;  ///< how many durable records were checked
  wire::Round said_{};            ///< the highest round of a promise, or of a durable vote
  std::set<std::uint32_t> sent_;
  Facts::Mask votes_ = 0;
  Facts::Mask decided_ = 0;
  bool asking_ = false;
  std::string wrong_;
};

}  // namespace peal::order::test
