// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/baselines/whitebox/parts.h"

namespace peal::sim::genuine::whitebox {

/// The change of a domain's leader. A candidate collects the states of a majority, builds the base
/// of its ballot from them, and leads once a majority has the base.
class Takeover {
 public:
  explicit Takeover(const Parts& parts) : p_(parts) {}

  /// Begins with a ballot above `highest`.
  void start(Instant now, Ballot highest, order::Effects& out);
  /// True if this server has promised the ballot now.
  bool on_new_leader(const MemberId& from, const NewLeader& asked, order::Effects& out);
  /// True if this server has the base of its promised ballot now.
  bool on_part(Instant now, const MemberId& from, const Part& part, order::Effects& out);
  void on_get(const MemberId& from, const Get& get, order::Effects& out) const;
  /// True if this server has become the leader.
  bool begins_to_lead() const;
  void tick(Instant now, order::Effects& out);

  bool collects() const { return collecting_; }
  /// This candidate did not get a majority's states in time: others may try.
  bool holds_back(Instant now) const { return lost_ || now < hold_back_until_; }
  /// This server lacks messages that no other server retains.
  bool is_lost() const { return lost_; }
  std::uint64_t started() const { return started_; }

 private:
  /// A state that arrives in parts, in any order.
  struct Arriving {
    std::vector<std::byte> bytes;                           ///< the beginning, without a hole
    std::map<std::uint32_t, std::vector<std::byte>> early;  ///< by offset: what follows a hole
    std::uint32_t total = 0;
    bool begun = false;
    std::uint32_t asked = 0;  ///< the last request was for what begins here
    bool complete() const { return begun && bytes.size() == total; }
    void add(const Part& part);
  };
  /// What a state says.
  struct Answer {
    Ballot current = 0;
    std::uint64_t clock = 0;
    std::uint64_t tip = 0;
    bool whole = false;            ///< it has all that the candidate lacks in the order
    std::vector<Message> ordered;  ///< what follows the candidate's order
    std::vector<Message> open;     ///< messages with stamps of `current`
  };

  void promise(Ballot ballot, std::uint64_t tip);
  std::vector<std::byte> state_for(std::uint64_t tip) const;
  bool read_state(ByteView bytes, Answer& out) const;
  void send_parts(NodeId to, Ballot ballot, State state, std::uint32_t offset,
                  order::Effects& out) const;
  void ask_for_rest(NodeId from, State state, Arriving& arriving, order::Effects& out) const;
  void go_on_asking(NodeId from, State state, Arriving& arriving, order::Effects& out) const;
  std::uint32_t part_bytes() const;
  void decide();
  void build_base(const std::vector<Answer>& answers);
  bool take_base(ByteView bytes);

  const Parts& p_;
  Ballot answered_ = 0;            ///< the ballot for which `answer_` was made
  std::vector<std::byte> answer_;  ///< this server's state when it promised
  bool collecting_ = false;
  Instant deadline_{};
  Instant hold_back_until_{};
  bool lost_ = false;
  std::uint64_t started_ = 0;
  std::map<NodeId, Arriving> answers_;
  Ballot built_ = 0;  ///< the ballot of `base_`, if this server is its leader
  std::vector<std::byte> base_;
  Arriving arriving_base_;  ///< of the promised ballot
  Instant asked_at_{};
  std::uint64_t turns_ = 0;  ///< in which the base was sent again
};

}  // namespace peal::sim::genuine::whitebox
