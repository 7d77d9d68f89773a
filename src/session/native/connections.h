// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "session/lifecycle.h"
#include "session/native/connection.h"
#include "session/native/input_flow.h"
#include "session/requests.h"

namespace peal::session::native {

/// All connections that use the native protocol. Splits received bytes into records
/// (connections.cc), turns each record into calls of Lifecycle, Requests and Backlog (records.cc),
/// and asks the owner to write output.
class Connections {
 public:
  Connections(Context& context, Lifecycle& lifecycle, Requests& requests, Backlog& backlog)
      : context_(context), lifecycle_(lifecycle), requests_(requests), backlog_(backlog) {}
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Calls of the owner: see Sessions.
  void accepted(ConnectionId id, const Identity& identity);
  std::size_t received(ConnectionId id, ByteView bytes);
  std::span<const ByteView> output(ConnectionId id);
  RegionId region_of(ConnectionId id) const;
  void written(ConnectionId id, std::size_t bytes);
  void closed(ConnectionId id);
  void take_wanted(Wanted& out);
  void on_room() { input_flow_.resume_all(Link::Pause::node); }
  /// Closes connections whose deadline has passed.
  void check();
  void stop();

  std::size_t count() const { return connections_.size(); }
  std::uint64_t input_bytes() const { return input_flow_.input_bytes(); }
  void check_invariants() const;

  // For Connection.
  void welcome(Connection& it, const wire::Welcome& welcome, std::uint64_t repeat);
  void resume(Connection& it) { input_flow_.resume_one(it); }
  void close(Connection& it, wire::ClientCode code, std::string_view text);

 private:
  using Pause = Link::Pause;
  using State = Connection::State;
  /// The result of handling a record.
  enum class Handled : std::uint8_t { done, paused, closed };

  Connection* find(ConnectionId id) const;
  void check(Connection& it);
  void forget(Connection& it);
  std::size_t complete(Connection& from, ByteView bytes);
  std::uint64_t length_max(const Connection& from) const;

  // records.cc
  Handled handle(Connection& from, const wire::Record& record);
  Handled on_hello(Connection& from, ByteView body);
  Handled on_send(Connection& from, ByteView body);
  Handled on_join(Connection& from, ByteView body);
  Handled on_leave(Connection& from, ByteView body);
  Handled on_ask(Connection& from, ByteView body);
  Handled on_seen(Connection& from, ByteView body);
  Handled on_ping(Connection& from, ByteView body);
  Handled on_mapped(Connection& from, ByteView body);
  Handled on_goodbye(Connection& from, ByteView body);
  Handled reply(Connection& to, std::uint32_t request, const std::optional<Answer>& answer);
  Handled pause(Connection& from, Pause reason);
  Handled turn_away(Connection& from, wire::ClientCode code, std::string_view text);
  Handled bad_record(Connection& from, std::string_view what);

  Context& context_;
  Lifecycle& lifecycle_;
  Requests& requests_;
  Backlog& backlog_;
  Wanted wanted_;
  InputFlow input_flow_{context_, wanted_};
  std::map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::vector<ByteView> pieces_;  ///< scratch
};

}  // namespace peal::session::native
