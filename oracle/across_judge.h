// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "oracle/domain_map.h"
#include "oracle/run_judge.h"
#include "oracle/verdict.h"

namespace peal::oracle {

/// With Options::genuine: judges what the nodes of all domains show together. A message has one
/// place, the same in all its domains (E7). The places of a sender's messages ascend, and what it
/// had delivered before it submitted a message has a lower place (E6). A member skips no message to
/// its domain that another domain delivered (E7). The orders of all members have no cycle
/// (acyclic). A message reaches the domains that its sender named, and no other nodes (E3). A
/// member delivers its messages before it goes on (E4).
///
/// Each member's events must come in their order. The order of different members' events does not
/// matter, except that the first event that names a place of a message defines it.
class AcrossJudge {
 public:
  AcrossJudge(const Options& options, const DomainMap& domains);

  /// Returns false for an event of an incarnation that has ended: no other judge may use it.
  bool add(const trace::Event& event);
  Report finish();
  std::uint64_t violations_total() const { return v_.report.violations_total; }

 private:
  using Key = std::pair<Seq, std::uint32_t>;  ///< a message's place: position, and index in it

  struct Message {
    bool named = false;      ///< an event named its destinations
    bool told = false;       ///< its sender learned the place
    bool delivered = false;  ///< at a member that it is for
    /// The highest place that its sender had delivered before it submitted this message.
    Key floor{};
    Index floor_message = kNone;
    Index successors = kNone;  ///< the first of its entries in `links_`
  };
  /// A message that a member delivered directly after another one.
  struct Link {
    Index to = kNone;
    Index member = kNone;
    Index next = kNone;  ///< the next link with the same start
  };
  struct Member {
    Index last = kNone;  ///< the message delivered last
    Key last_key{};
    std::uint64_t last_told = 0;  ///< number of the last own message whose place it learned
    Key known{};                  ///< the highest place delivered so far
    Index known_message = kNone;
    ViewId view{};            ///< the regular view that it is in
    std::vector<Index> owed;  ///< own messages that it learned to have places in `view`
  };
  struct KeyedMessage {
    Key key;
    Index message;
    friend bool operator<(const KeyedMessage& a, const KeyedMessage& b) { return a.key < b.key; }
  };

  void submit(Index member, const trace::Event& event);
  void originate(Index member, const trace::Event& event);
  void deliver(Index member, const trace::Event& event);
  void install(Index member, const trace::Event& event);
  void start(Index member, const trace::Event& event);

  Index message_of(const trace::Event& event);
  Member& state_of(Index member);
  Key key_of(Index message) const;
  void name_domains(Index member, Index message, const trace::Event& event);
  void name_place(Index member, Index message, const trace::Event& event);
  void check_owed(Index member, const trace::Event& event);
  void follow(Index from, Index to, Index member);
  void finish_submissions();
  void finish_places();
  void finish_causes();
  void finish_senders();
  void finish_cycles();
  void finish_figures();

  const DomainMap& domains_;
  Verdict v_;
  std::vector<Message> messages_;        ///< by index in v_.history
  std::vector<DomainSet> destinations_;  ///< of the messages
  RunJudge runs_;
  std::vector<Member> members_;  ///< by index in v_.history
  std::vector<Link> links_;
};

}  // namespace peal::oracle
