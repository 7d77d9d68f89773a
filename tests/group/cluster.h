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

// Daemons with groups on a stream that the test orders by hand: a message of one of them goes to
// all members of its view, in one order, and views come with their transitional views.

namespace peal::group::test {

/// One daemon: a, b, c ...
class Daemon final : public Effects {
 public:
  Daemon(char letter, std::uint32_t nodes, std::uint32_t message_bytes_max);

  std::string name() const { return std::string(1, letter); }
  std::uint32_t connect(std::string_view client) { return groups->connect(client).value(); }
  /// Sends to one group or to several, separated by commas.
  Result<void, Refusal> send(std::uint32_t connection, std::string_view targets,
                             std::string_view payload, bool self_discard = false);
  /// What its clients received since the last call.
  std::vector<std::string> take_log() { return std::exchange(log, {}); }

  void deliver(std::span<const std::uint32_t> connections, const Received& message) override;
  void view(std::span<const std::uint32_t> connections, const GroupView& view) override;
  void transitional(std::uint32_t connection, std::string_view group) override;
  void left(std::uint32_t connection, std::string_view group) override;
  void gap(std::span<const std::uint32_t> connections, std::string_view group) override;
  Result<void, Errc> submit(ByteView message, Service service, order::Domain /*domain*/) override;
  void replace_control(ByteView message) override;
  void block(bool on) override { blocked = on; }
  void settled(const ViewId& view) override;

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
  std::size_t room = 1'000;  ///< messages that may wait
  std::vector<std::string> log;
  std::uint16_t got_type = 0;  ///< of the last message; and so on
  Service got_service = Service::agreed;
  std::vector<std::string> got_targets;
  std::map<ViewId, std::uint64_t> settled_hashes;
};

class Cluster {
 public:
  explicit Cluster(std::uint32_t nodes, std::uint32_t message_bytes_max = 1U << 20);

  Daemon& operator[](char letter) { return *daemons[static_cast<std::size_t>(letter - 'a')]; }
  /// The next message of `from` is delivered to `to`, letters of daemons in its view (all, if
  /// empty); false if none waits.
  bool order_one(char from, std::string_view to = {});
  /// Delivers all waiting messages.
  void order_all(std::string_view members);
  /// Tells the members of a new view, letters in ascending order, first that their old view ends:
  /// then `remains` may order what is left of it, and then of the new one.
  void install(std::string_view members, const std::function<void()>& remains = {});
  /// The same, and all that waits is ordered.
  void settle(std::string_view members);

  std::vector<std::unique_ptr<Daemon>> daemons;

 private:
  std::vector<MemberId> ids(std::string_view letters) const;

  std::uint64_t views_ = 0;
  std::map<ViewId, Seq> placed_;  ///< messages of each view that have their places
};

}  // namespace peal::group::test
