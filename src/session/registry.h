// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace peal::session {

/// A session that the daemon ended, kept so that a client that reconnects learns the reason. The
/// last record of the old connection had the reason, but the client may not have received that
/// record.
struct Ended {
  wire::SessionToken token{};
  Person person;
  wire::ClientCode code{};
  std::string text;
};

/// All sessions of the daemon, by number, token and rule; the sessions that are to end; and the
/// reasons for which sessions ended.
class Registry {
 public:
  using Map = std::map<std::uint32_t, std::unique_ptr<Session>>;
  explicit Registry(const Options& options) : options_(options) {
    by_rule_.resize(options.clients.size());
  }

  const Map& all() const { return sessions_; }
  std::size_t size() const { return sessions_.size(); }
  Session* find(std::uint32_t id) const;
  /// The session that a client with this token may resume; null: none.
  Session* find(const wire::SessionToken& token) const;
  Session* find(std::string_view private_name) const;
  const Ended* find_ended(const wire::SessionToken& token, const Person& person) const;

  /// Adds a session whose id and rule are set, and whose token is set if Session::keep is not 0.
  void add(std::unique_ptr<Session> session);
  /// Removes a session that ends. `code` and `text`: the reason.
  void remove(Session& it, wire::ClientCode code, std::string_view text);

  /// Ends the session at the next end_due(). If end_later() is called again before that, the
  /// first reason counts.
  void end_later(Session& it, wire::ClientCode code, std::string text);
  bool has_ending() const { return !ending_.empty(); }
  /// Calls `end` for each session that is to end; `end` must remove the session.
  template <class End>
  void end_due(End end) {
    for (std::size_t i = 0; i < ending_.size(); ++i) {
      if (Session* it = find(ending_[i])) end(*it);
    }
    ending_.clear();
  }

  /// Number of sessions under the rule, which must be an element of Options::clients.
  std::uint32_t count_of(const ClientRule& rule) const { return by_rule_[index_of(rule)]; }
  /// Sets the session's rule; null: none.
  void set_rule(Session& it, const ClientRule* rule);
  /// Call when the options have new rules, before the first set_rule() with a new rule.
  void reset_rules() { by_rule_.assign(options_.clients.size(), 0); }
  void check_invariants() const;

 private:
  std::size_t index_of(const ClientRule& rule) const {
    return static_cast<std::size_t>(&rule - options_.clients.data());
  }
  void note_ended(const Session& it, wire::ClientCode code, std::string_view text);

  const Options& options_;
  Map sessions_;
  std::map<wire::SessionToken, Session*> tokens_;
  std::deque<Ended> ended_;             ///< the sessions that ended last; at most kEndedMax
  std::vector<std::uint32_t> by_rule_;  ///< number of sessions under each rule for clients
  std::vector<std::uint32_t> ending_;   ///< sessions that are to end
};

}  // namespace peal::session
