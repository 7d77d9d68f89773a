// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "io/endpoint.h"
#include "io/resolve.h"

namespace peal::io {

/// Where the other nodes are. An address that is a name is looked up again and again, on threads of
/// its own (LookUp), until its node is in the view; one that is an IP address never. What was found
/// stays in use until something else is found, also while the name servers say nothing.
/// Thread: one. Blocks: never.
class AddressBook {
 public:
  /// Between two questions about a name whose node is away; each time twice as long.
  static constexpr Duration kAskAgainMin = seconds(5);
  static constexpr Duration kAskAgainMax = seconds(30);
  /// Questions at a time; others in this process may have some too.
  static constexpr int kQuestionsMax = 2;

  struct Entry {
    NodeId node{};
    HostPort name;        ///< as configured
    Endpoint at;          ///< unspecified: not known
    std::string problem;  ///< of the newest answer; empty: none
    bool known() const { return !at.is_unspecified(); }
  };
  /// What an answer came to: a node has another address, or it has become known why it has none.
  struct Change {
    const Entry& entry;
    Endpoint before;
  };
  using OnChange = std::function<void(const Change&)>;

  /// `own` is this node's address, `nodes` the other ones; `question` asks for one, nothing: the
  /// operating system.
  AddressBook(const Endpoint& own, std::vector<Entry> nodes, LookUp::Question question);

  /// These are the other nodes from now on. What is known of those that stay is kept, unless they
  /// have another address; names that are new are looked up soon.
  void set_nodes(Instant now, std::vector<Entry> nodes);

  /// The nodes, in the order given.
  std::span<const Entry> entries() const { return entries_; }
  bool has_names() const { return !states_.empty(); }
  /// Questions that wait for an answer.
  int waiting() const;

  /// These nodes are in the view now, and are where we think. Others are looked for.
  void set_present(Instant now, std::span<const MemberId> members);
  /// Looks all names up again, soon.
  void ask_all(Instant now);
  /// Packets came from addresses that are nobody's: somebody may have moved. The names of absent
  /// nodes are looked up sooner, but not more often than every kAskAgainMin.
  void on_strangers(Instant now);

  std::optional<Instant> next_deadline() const;
  /// Asks what is due, and takes the answers that have come.
  void on_timer(Instant now, const OnChange& on_change);

 private:
  /// A name, and how the search for it goes.
  struct State {
    std::size_t entry{};
    bool present = false;    ///< its node is in the view
    bool contested = false;  ///< another name has the same address: is it still right?
    Duration pause = kAskAgainMin;
    std::optional<Instant> due;    ///< of the next question
    std::optional<Instant> asked;  ///< when, last
    std::optional<LookUp> waiting;
  };

  void ask(Instant now, State& state);
  void take(Instant now, State& state, const LookUp::Answer& answer, const OnChange& on_change);
  /// The address to use out of several, or why none of them.
  Result<Endpoint, std::string> choose(Instant now, const Entry& entry,
                                       const std::vector<Endpoint>& found);
  bool is_taken(Instant now, const Entry& entry, const Endpoint& at, std::string& why);

  Endpoint own_;
  std::vector<Entry> entries_;
  LookUp::Question question_;
  std::vector<State> states_;
  Duration poll_pause_{};
  std::optional<Instant> next_poll_;  ///< while there are questions
};

/// This node's own address out of all that its name has. It must be an address of this machine; one
/// that others can reach is preferred, IPv4 is, and `v4` says what it must be, if anything. Errors:
/// invalid_option, with what was found.
Result<Endpoint, IoError> choose_own(const HostPort& name, const std::vector<Endpoint>& found,
                                     std::optional<bool> v4);

}  // namespace peal::io
