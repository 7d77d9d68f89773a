// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "group/groups.h"

// Daemons with groups, but without an order engine: the test delivers messages and installs views.
// All members of a view get a message at the same position. Each view has its transitional views.

namespace peal::group::test {

/// One daemon. Its name is a letter: a, b, c ...
class Daemon final : public Effects {
 public:
  Daemon(char letter, std::uint32_t nodes, std::uint32_t message_bytes_max, bool companies,
         Domains::Kind kind);

  std::string name() const { return std::string(1, letter); }
  std::uint32_t connect(std::string_view client) { return groups->connect(client).value(); }
  /// Sends to one target or to several targets, separated by commas.
  Result<void, Refusal> send(std::uint32_t connection, std::string_view targets,
                             std::string_view payload, bool self_discard = false);
  /// The events that the clients of this daemon received since the last call.
  std::vector<std::string> take_log() { return std::exchange(log, {}); }

  void deliver(std::span<const std::uint32_t> connections, const Received& message) override;
  void view(std::span<const std::uint32_t> connections, const GroupView& view) override;
  void transitional(std::uint32_t connection, std::string_view group) override;
  void left(std::uint32_t connection, std::string_view group) override;
  void gap(std::span<const std::uint32_t> connections, std::string_view group) override;
  Result<std::uint64_t, Errc> submit(ByteView message, Service service,
                                     DomainSet /*domains*/) override;
  void replace_control(ByteView message, DomainSet domains = {}) override;
  std::uint64_t block(bool on) override {
    blocked = on;
    return taken;
  }
  void settled(const ViewId& view, std::uint64_t hash) override;
  bool may_hold(std::uint64_t bytes) const override { return bytes <= held_bytes_max; }
  void dropped() override { log.emplace_back("all miss what was dropped"); }

  struct Waiting {
    Service service = Service::agreed;
    std::vector<std::byte> bytes;
  };

  const char letter;
  const MemberId id;
  std::unique_ptr<Groups> groups;
  ViewId in{};
  std::vector<Waiting> control;
  std::deque<Waiting> waiting;
  bool blocked = false;
  std::uint64_t submitted = 0;  ///< number of messages of clients so far
  std::uint64_t taken = 0;      ///< number of those that the engine has, as block() returns it
  std::uint64_t held_bytes_max = 1U << 30;
  std::size_t room = 1'000;  ///< maximum number of messages in `waiting`
  std::vector<std::string> log;
  // Fields of the last message that came.
  std::uint16_t got_type = 0;
  Service got_service = Service::agreed;
  std::vector<std::string> got_targets;
  std::map<ViewId, std::uint64_t> settled_hashes;
};

class Cluster {
 public:
  explicit Cluster(std::uint32_t nodes, std::uint32_t message_bytes_max = 1U << 20,
                   bool companies = false, Domains::Kind kind = Domains::Kind::nested);

  Daemon& operator[](char letter) { return *daemons[static_cast<std::size_t>(letter - 'a')]; }
  /// Delivers the next message of daemon `from` to the daemons with the letters `to`, or to all in
  /// its view if `to` is empty. Returns false if no message waits.
  bool order_one(char from, std::string_view to = {});
  /// Delivers the next message of a client of `from`, even if the daemon is blocked, as if it had
  /// been under way before.
  bool order_under_way(char from, std::string_view to);
  /// Delivers all waiting messages.
  void order_all(std::string_view members);
  /// Installs a new view of `members`, letters in ascending order. First the members get their
  /// transitional views, and `remains` may deliver messages of the old views. Then they get the new
  /// view.
  void install(std::string_view members, const std::function<void()>& remains = {});
  /// Installs a new view of `members`, and delivers all waiting messages.
  void settle(std::string_view members);

  std::vector<std::unique_ptr<Daemon>> daemons;

 private:
  void order(Daemon& sender, const Daemon::Waiting& message, std::string_view to);
  std::vector<MemberId> ids(std::string_view letters) const;

  std::uint64_t views_ = 0;
  std::map<ViewId, Seq> placed_;                ///< by view: the newest position
  std::map<MemberId, std::uint64_t> numbered_;  ///< by sender: number of its newest message
};

}  // namespace peal::group::test
