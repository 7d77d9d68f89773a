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
/// until a look-up finds another address, even while the name servers do not answer. The book drops
/// a node's address only if another node's name has that address and the node's own name has no
/// acceptable address any more.
///
/// Thread: one. Blocks: never.
class AddressBook {
 public:
  /// Shortest and longest pause between two look-ups of an absent node's name. The pause
  /// doubles each time.
  static constexpr Duration kAskAgainMin = seconds(5);
  static constexpr Duration kAskAgainMax = seconds(30);
  /// Maximum number of look-ups of one address book at a time. LookUp::kQuestionsMax limits the
  /// look-ups of the whole process.
  static constexpr int kQuestionsMax = 2;

  struct Entry {
    NodeId node{};
    HostPort name;        ///< as configured
    Endpoint at;          ///< unspecified if not known
    std::string problem;  ///< why the newest answer gave no address; else empty
    bool known() const { return !at.is_unspecified(); }
  };
  /// The effect of an answer. Either the address of `entry` is no longer `before`, or `entry` has
  /// no address and a new `problem` says why.
  struct Change {
    const Entry& entry;
    Endpoint before;
  };
  using OnChange = std::function<void(const Change&)>;

  /// `own` is this node's address, `nodes` are the other nodes. `question` looks up a name; if
  /// `question` is empty, the operating system looks names up.
  AddressBook(const Endpoint& own, std::vector<Entry> nodes, LookUp::Question question);

  /// Replaces the other nodes. A node that stays keeps its known address until a look-up finds
  /// another address. If its configured name is unchanged, the state of its look-ups stays too.
  /// Looks new names up soon.
  void set_nodes(Instant now, std::vector<Entry> nodes);

  /// The nodes, in the order given.
  std::span<const Entry> entries() const { return entries_; }
  bool has_names() const { return !states_.empty(); }
  /// The number of look-ups without an answer yet.
  int waiting() const;

  /// The nodes of `members` are in the view, so their addresses are right. From now on, looks up
  /// only the names of the other nodes.
  void set_present(Instant now, std::span<const MemberId> members);
  /// Looks all names up again soon.
  void ask_all(Instant now);
  /// Call it when packets came from unknown addresses, because a node may have moved. Looks up the
  /// names of absent nodes sooner, but not more often than every kAskAgainMin.
  void on_strangers(Instant now);

  std::optional<Instant> next_deadline() const;
  /// Starts the look-ups that are due, and takes the answers that arrived.
  void on_timer(Instant now, const OnChange& on_change);

 private:
  /// A name, and the state of its look-ups.
  struct State {
    std::size_t entry{};
    bool present = false;  ///< the node with this name is in the view
    /// Another node's name has the same address, so Entry::at may be outdated.
    bool contested = false;
    Duration pause = kAskAgainMin;
    std::optional<Instant> due;    ///< time of the next look-up
    std::optional<Instant> asked;  ///< time of the last look-up
    std::optional<LookUp> waiting;
  };

  void ask(Instant now, State& state);
  void take(Instant now, State& state, const LookUp::Answer& answer, const OnChange& on_change);
  /// Chooses one of the addresses found. The error is the reason why no address is accepted.
  Result<Endpoint, std::string> choose(Instant now, const Entry& entry,
                                       const std::vector<Endpoint>& found);
  bool is_taken(Instant now, const Entry& entry, const Endpoint& at, std::string& why);

  Endpoint own_;
  std::vector<Entry> entries_;
  LookUp::Question question_;
  std::vector<State> states_;
  Duration poll_pause_{};
  std::optional<Instant> next_poll_;  ///< next check for answers, while look-ups run
};

/// Chooses this node's own address among all addresses of its name. The chosen address belongs to
/// this machine. Prefers an address that other machines can reach, then IPv4. `v4`, if given,
/// allows only IPv4 (true) or only IPv6 (false). Errors: invalid_option, with the addresses found.
Result<Endpoint, IoError> choose_own(const HostPort& name, const std::vector<Endpoint>& found,
                                     std::optional<bool> v4);

}  // namespace peal::io
