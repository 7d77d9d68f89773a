// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "port/memory.h"
#include "sim/baselines/literal/options.h"
#include "sim/baselines/literal/records.h"

namespace peal::sim::genuine::literal {

enum class Kind : std::uint8_t {
  beat = 240,        ///< a server's signs of life, to its domain
  relay = 241,       ///< a unit, by a server whose message waits
  new_leader = 248,  ///< CATCH_UP
  part = 249,        ///< bytes of a state: MY_STATE, or what a new leader begins with
  pull = 252,        ///< asks for the unit of a message; kinds have one name, here skeen's
  hello = 253,       ///< the sender has exposed its memory to the receiver
};
constexpr std::uint8_t number(Kind kind) { return static_cast<std::uint8_t>(kind); }

/// Where the memories of a cluster have which cell.
class Places {
 public:
  Places(const Layout& layout, const Options& options, std::vector<NodeId> nodes)
      : layout_(layout), options_(options), nodes_(std::move(nodes)) {}

  std::size_t unit_cell_bytes() const { return options_.packet_bytes_max + std::size_t{64}; }
  std::size_t cell_bytes(Area area) const {
    return area == Area::units ? unit_cell_bytes()
           : area == Area::log ? log_cell_bytes(layout_.count())
                               : kCellBytes;
  }
  std::size_t region_bytes(Area area) const {
    if (area == Area::units) return options_.slots * cell_bytes(area);
    if (area == Area::replies) return (options_.slots + 1) * cell_bytes(area);
    return nodes_.size() * options_.slots * cell_bytes(area);
  }
  /// The cell of a client's message in its own area, or in one that all clients share.
  std::uint64_t of(Area area, NodeId client, std::uint64_t index) const {
    std::uint64_t cell = index % options_.slots;
    if (area != Area::units && area != Area::replies) cell += row_of(client) * options_.slots;
    return cell * cell_bytes(area);
  }
  /// In T: where the record with the stamp of another domain is.
  std::uint64_t of_foreign(NodeId client, std::uint64_t index, DomainId domain) const {
    return of(Area::log, client, index) + log_front_bytes(layout_.count()) +
           kForeignBytes * (domain - 1U);
  }
  std::uint64_t release_cell() const { return options_.slots * cell_bytes(Area::replies); }
  const std::vector<NodeId>& nodes() const { return nodes_; }

 private:
  std::uint64_t row_of(NodeId client) const {
    const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), client);
    return static_cast<std::uint64_t>(found - nodes_.begin());
  }
  const Layout& layout_;
  const Options& options_;
  std::vector<NodeId> nodes_;  ///< sorted
};

/// The memory that this process and others have exposed to each other. Links work, and a process
/// that has ended never comes back as a server: what was written arrives.
class Links {
 public:
  Links(const Layout& layout, const Options& options, Post& post, port::Memory& memory,
        const Places& places)
      : layout_(layout), options_(options), post_(post), memory_(memory), places_(places) {}

  /// This process is going to write to the node.
  void need(Instant now, NodeId node);
  bool is_open(NodeId node) const {
    const auto found = peers_.find(node);
    return found != peers_.end() && found->second.open;
  }
  /// The incarnation of the node that was heard last.
  MemberId peer(NodeId node) const {
    const auto found = peers_.find(node);
    return found == peers_.end() ? MemberId{} : found->second.id;
  }
  void on_hello(Instant now, const Frame& frame, order::Effects& out);
  void tick(Instant now, order::Effects& out);
  std::optional<Instant> next_deadline() const;

  /// Writes once the node has exposed its memory.
  void write(Instant now, NodeId to, Area area, std::uint64_t offset, ByteView bytes);
  /// Copies a cell that the node wrote. False if nothing was exposed to it.
  bool load(Area area, NodeId from, std::uint64_t offset, ByteSpan to) const;

  // T of this domain. The round is the epoch.
  void expose_log(const MemberId& leader, Round round) {
    const port::Region region{leader, static_cast<std::uint8_t>(Area::log)};
    const bool done = memory_.expose(region, {round}, places_.region_bytes(Area::log)).has_value();
    PEAL_ASSERT(done);
  }
  void revoke_log(const MemberId& leader) {
    memory_.revoke({leader, static_cast<std::uint8_t>(Area::log)});
  }
  /// `token` is not 0.
  void write_log(const MemberId& to, Round round, std::uint64_t offset, ByteView bytes,
                 std::uint64_t token) {
    memory_.write({to, static_cast<std::uint8_t>(Area::log), {round}, offset}, bytes, token);
  }
  bool next_done(port::WriteDone& out) { return memory_.next_done(out); }

 private:
  struct Waiting {
    Area area{};
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  struct Peer {
    MemberId id{};
    bool exposed = false;
    bool open = false;
    bool needed = false;
    Instant next{};
    std::vector<Waiting> waiting;
  };
  void expose(const MemberId& to);
  void say_hello(NodeId node, order::Effects& out);
  bool serves(NodeId node) const { return layout_.domain_of(node) != 0; }

  const Layout& layout_;
  const Options& options_;
  Post& post_;
  port::Memory& memory_;
  const Places& places_;
  std::map<NodeId, Peer> peers_;
};

}  // namespace peal::sim::genuine::literal
