// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "wire/client.h"

namespace peal::sim {

class SimClient;

/// Observes what a client receives.
class ClientWatcher {
 public:
  virtual ~ClientWatcher() = default;
  virtual void started(SimClient& client) = 0;  ///< the session has started; called once
  virtual void resumed(SimClient& client) = 0;
  virtual void message(SimClient& client, const wire::MessageEvent& event) = 0;
  virtual void view(SimClient& client, const wire::GroupViewEvent& event) = 0;
  virtual void transitional(SimClient& client, std::string_view group) = 0;
  virtual void left(SimClient& client, std::string_view group) = 0;
  virtual void gap(SimClient& client, const wire::GapEvent& event) = 0;
  virtual void shared(SimClient& client) = 0;  ///< the next event came through shared memory
  /// A message of the client was acknowledged, and was not refused.
  virtual void settled(SimClient& client, std::uint64_t number) = 0;
  virtual void ended(SimClient& client, wire::ClientCode code) = 0;
  /// The daemon violated the protocol.
  virtual void wrong(SimClient& client, const std::string& text) = 0;
};

/// One simulated client of a daemon, from its first hello to the end of its session. Acts as a
/// client library, but without sockets: the owner of this object moves the bytes in both
/// directions.
class SimClient {
 public:
  SimClient(std::string name, ClientWatcher& watcher) : name_(std::move(name)), watcher_(watcher) {}

  enum class State : std::uint8_t { apart, greeting, talking, over };
  State state() const { return state_; }
  const std::string& name() const { return name_; }
  /// "#NAME#NODE"; valid once the session has started.
  const std::string& private_name() const { return private_name_; }
  /// Number of events received, including the one being handled.
  std::uint64_t events() const { return events_; }

  /// Sends hello on a new connection, to start a session or to resume the client's own session.
  /// `shares`: the client can read events from shared memory.
  void connect(std::uint32_t keep_ms, bool shares);
  /// Gives the client the connection's shared memory. Call before the first hear().
  void share(ByteView memory) { memory_ = memory; }
  /// Call when the connection has broken.
  void cut();
  /// The client disappears for good, without a goodbye.
  void vanish() { end(wire::ClientCode::silent); }

  // Requests. They return false if the client is not connected or is leaving. send() also returns
  // false if too many messages are not acknowledged. join() and leave() also return false if an
  // earlier join or leave has no reply.
  bool send(std::span<const std::string_view> targets, Service service, bool self_discard,
            ByteView payload);
  std::uint64_t next_number() const { return sent_ + 1; }
  bool join(std::string_view group, const wire::SlowLimits& limits);
  bool leave(std::string_view group);
  void goodbye();

  // Bytes to and from the daemon.
  ByteView output() const { return ByteView(output_).subspan(taken_); }
  void took(std::size_t bytes);
  void hear(ByteView bytes);

  /// True if the session is over. Also true if the client is connected, all its messages are
  /// acknowledged, all its requests are answered, all its output is sent and all its input is
  /// handled.
  bool quiet() const;

 private:
  struct Unsettled {
    std::uint64_t number;
    std::vector<std::byte> record;
    bool refused = false;
  };
  struct Request {
    bool join;
    std::string group;
    wire::SlowLimits limits;
  };
  void on_record(const wire::Record& record);
  void on_event(const wire::Record& record);
  void on_shared(const wire::Shared& place);
  void on_welcome(const wire::Welcome& welcome);
  void on_acked(std::uint64_t number);
  void on_refused(const wire::Refused& refused);
  void on_reply(const wire::Reply& reply);
  void on_place(const wire::Place& place);
  void settle(std::uint64_t number);
  void ask();
  void end(wire::ClientCode code);
  void wrong(const std::string& text);

  std::string name_;
  ClientWatcher& watcher_;
  State state_ = State::apart;
  std::string private_name_;
  wire::SessionToken token_{};
  bool started_ = false;
  bool leaving_ = false;  ///< goodbye was sent
  std::uint64_t events_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t acked_ = 0;
  std::uint32_t unsettled_max_ = 0;
  std::deque<Unsettled> unsettled_;
  std::uint32_t requests_ = 0;
  std::optional<Request> request_;
  wire::Place last_{};
  std::vector<std::byte> output_;
  std::size_t taken_ = 0;
  std::vector<std::byte> input_;
  ByteView memory_;
};

}  // namespace peal::sim
