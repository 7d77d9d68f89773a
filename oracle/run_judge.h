// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oracle/domain_map.h"
#include "oracle/verdict.h"

namespace peal::oracle {

/// With Options::genuine: judges that members skip nothing. A *run* is what a member delivers in
/// one view, or in several views with straight steps between them (oracle/README.md, "told").
/// Between two deliveries of a run, the member delivers every message to its domain that has its
/// place there (E7), and every message of a sender whose messages before and behind it the member
/// delivers (E6). A run that begins with the first view of a domain begins with its first message.
class RunJudge {
 public:
  /// `destinations`: by message, the domains that learn it.
  RunJudge(Verdict& verdict, const DomainMap& domains, const std::vector<DomainSet>& destinations);

  /// The member delivers a message that it has not delivered before. The message has a place in the
  /// verdict's history.
  void deliver(Index member, Index message);
  void install(Index member, const trace::Event& event);
  void finish();

 private:
  using Key = std::pair<Seq, std::uint32_t>;  ///< a message's place: position, and index in it

  /// The lowest and the highest number of a sender's messages that a member delivered in a run.
  struct Numbers {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };
  struct Run {
    Index member = kNone;
    DomainSet domains{};           ///< of the member
    std::uint64_t first_view = 0;  ///< number of its first view
    Key low{};                     ///< of the deliveries
    Key high{};
    std::uint32_t deliveries = 0;
    std::uint32_t own = 0;  ///< deliveries of messages that are for `domains`
    std::unordered_map<Index, Numbers> senders;
  };
  struct Member {
    Run run;
    ViewId next{};                   ///< of the transitional view that it is in
    std::vector<MemberId> together;  ///< members of that transitional view, sorted
  };
  struct KeyedMessage {
    Key key;
    Index message;
    friend bool operator<(const KeyedMessage& a, const KeyedMessage& b) { return a.key < b.key; }
  };

  Member& state_of(Index member);
  Key key_of(Index message) const;
  Run new_run(Index member) const;
  void end_run(Run& run);
  void open_first_runs();
  void find_holes();
  void find_hole(const Run& run, const std::vector<KeyedMessage>& order);
  void find_skips();
  bool is_skipped(Index message) const;

  Verdict& v_;
  const DomainMap& domains_;
  const std::vector<DomainSet>& destinations_;
  std::vector<Member> members_;             ///< by index in the verdict's history
  std::vector<std::uint64_t> first_views_;  ///< by domain: the lowest number of a view
  std::vector<Run> runs_;
};

}  // namespace peal::oracle
