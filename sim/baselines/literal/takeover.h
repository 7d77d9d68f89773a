// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "sim/baselines/literal/tasks.h"

namespace peal::sim::genuine::literal {

/// Tasks 7 to 9 of the paper: the change of a domain's leader.
class Takeover {
 public:
  Takeover(const Parts& parts, Tasks& tasks, Leader& leader)
      : p_(parts), tasks_(tasks), leader_(leader) {}

  /// Task 7: begins with a round above `highest`.
  void start(Instant now, Round highest, order::Effects& out);
  /// Task 8. True if this server has promised the round now.
  bool on_new_leader(const MemberId& from, wire::ByteReader in, order::Effects& out);
  /// Task 9, or what the new round begins with. True if the server is in step with it now.
  bool on_part(const MemberId& from, wire::ByteReader in);
  /// At a leader: a majority has what the round begins with.
  void note_members();
  void tick(Instant now, order::Effects& out);

  bool collects() const { return collecting_; }
  bool holds_back(Instant now) const { return now < hold_back_until_; }
  std::uint64_t started() const { return started_; }

 private:
  enum class Sort : std::uint8_t { state = 1, base };
  /// Bytes that arrive in parts, in any order.
  struct Arriving {
    std::map<std::uint32_t, std::vector<std::byte>> parts;  ///< by offset
    std::uint32_t got = 0;
    std::vector<std::byte> whole;
    bool add(std::uint32_t total, std::uint32_t offset, ByteView bytes);
  };
  struct Known {
    Head head;
    Key stamp = 0;
    Key key = 0;
    Body body;
  };
  struct State {
    Round current = 0;
    std::uint64_t clock = 0;
    std::map<Place, Known> messages;
  };

  void promise(Round round, const MemberId& leader);
  std::vector<std::byte> state_bytes(bool of_leader) const;
  bool read_state(ByteView bytes, State& out) const;
  void send_parts(NodeId to, Round round, Sort sort, const std::vector<std::byte>& bytes,
                  order::Effects& out) const;
  void decide();
  void adopt(const State& base);
  bool is_undecided(const Place& place) const;

  const Parts& p_;
  Tasks& tasks_;
  Leader& leader_;
  std::vector<std::byte> answer_;  ///< this server's state when it promised
  bool collecting_ = false;
  Instant deadline_{}, hold_back_until_{}, asked_at_{};
  std::map<NodeId, Arriving> states_;
  std::vector<std::byte> base_;  ///< of the round that this server leads
  Arriving arriving_;            ///< the base of the promised round
  std::uint64_t started_ = 0;
};

}  // namespace peal::sim::genuine::literal
