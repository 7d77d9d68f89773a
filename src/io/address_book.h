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

/// The addresses of the other nodes. A name is looked up repeatedly, on separate threads (LookUp),
/// until its node is in the view. IP addresses are not looked up. A found address stays in use
/// until another one is found, even while the name servers do not answer.
///
/// Thread: one. Blocks: never.
class AddressBook {
 public:
  /// Pause between two look-ups of an absent node's name; doubles each time.
  static constexpr Duration kAskAgainMin = seconds(5);
  static constexpr Duration kAskAgainMax = seconds(30);
  /// Maximum number of look-ups of one address book at a time. LookUp::kQuestionsMax limits those
  /// of the whole process.
  static constexpr int kQuestionsMax = 2;

  struct Entry {
    NodeId node{};
    HostPort name;        ///< as configured
    Endpoint at;          ///< unspecified: not known
    std::string problem;  ///< of the newest answer; empty: none
    bool known() const { return !at.is_unspecified(); }
  };
  /// The effect of an answer: a node has another address, or the reason why it has none is known.
  struct Change {
    const Entry& entry;
    Endpoint before;
  };
  using OnChange = std::function<void(const Change&)>;

  /// `own` is this node's address, `nodes` are the other nodes. `question` looks a name up; if
  /// `question` is empty, the operating system does.
  AddressBook(const Endpoint& own, std::vector<Entry> nodes, LookUp::Question question);

  /// Replaces the other nodes. Keeps the state of the nodes that stay, unless their configured
  /// address changed; looks new names up soon.
  void set_nodes(Instant now, std::vector<Entry> nodes);

  /// The nodes, in the order given.
  std::span<const Entry> entries() const { return entries_; }
  bool has_names() const { return !states_.empty(); }
  /// Look-ups without an answer yet.
  int waiting() const;

  /// `members` are in the view, so their addresses are right. Looks up the names of all other
  /// nodes.
  void set_present(Instant now, std::span<const MemberId> members);
  /// Looks all names up again soon.
  void ask_all(Instant now);
  /// Packets came from unknown addresses: a node may have moved. Looks the names of absent nodes up
  /// sooner, but not more often than every kAskAgainMin.
  void on_strangers(Instant now);

  std::optional<Instant> next_deadline() const;
  /// Starts the look-ups that are due, and takes the answers that arrived.
  void on_timer(Instant now, const OnChange& on_change);

 private:
  /// A name, and the state of its look-ups.
  struct State {
    std::size_t entry{};
    bool present = false;    ///< its node is in the view
    bool contested = false;  ///< another node claims this address, so it may be wrong
    Duration pause = kAskAgainMin;
    std::optional<Instant> due;    ///< time of the next look-up
    std::optional<Instant> asked;  ///< time of the last look-up
    std::optional<LookUp> waiting;
  };

  void ask(Instant now, State& state);
  void take(Instant now, State& state, const LookUp::Answer& answer, const OnChange& on_change);
  /// Chooses one of the addresses found. The error is the reason why none is accepted.
  Result<Endpoint, std::string> choose(Instant now, const Entry& entry,
                                       const std::vector<Endpoint>& found);
  bool is_taken(Instant now, const Entry& entry, const Endpoint& at, std::string& why);

  Endpoint own_;
  std::vector<Entry> entries_;
  LookUp::Question question_;
  std::vector<State> states_;
  Duration poll_pause_{};
  std::optional<Instant> next_poll_;  ///< while look-ups wait for an answer
};

/// Chooses this node's own address among all addresses of its name. It must belong to this machine.
/// Prefers an address that others can reach, then IPv4; `v4`, if given, sets the family. Errors:
/// invalid_option, with the addresses found.
Result<Endpoint, IoError> choose_own(const HostPort& name, const std::vector<Endpoint>& found,
                                     std::optional<bool> v4);

}  // namespace peal::io
