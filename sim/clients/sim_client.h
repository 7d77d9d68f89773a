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

/// Sees what a client is told.
class TalkWatcher {
 public:
  virtual ~TalkWatcher() = default;
  virtual void started(SimClient& talk) = 0;  ///< it has a session; comes once
  virtual void resumed(SimClient& talk) = 0;
  virtual void message(SimClient& talk, const wire::MessageEvent& event) = 0;
  virtual void view(SimClient& talk, const wire::GroupViewEvent& event) = 0;
  virtual void transitional(SimClient& talk, std::string_view group) = 0;
  virtual void left(SimClient& talk, std::string_view group) = 0;
  virtual void gap(SimClient& talk, const wire::GapEvent& event) = 0;
  virtual void shared(SimClient& talk) = 0;  ///< the next event lay in memory
  virtual void settled(SimClient& talk, std::uint64_t number) = 0;  ///< one that was not refused
  virtual void ended(SimClient& talk, wire::ClientCode code) = 0;
  /// The daemon said something that it must not say.
  virtual void wrong(SimClient& talk, const std::string& text) = 0;
};

/// One simulated client of a daemon, from its first hello to the end of its session: what a client
/// library does, without sockets. Bytes go both ways as whoever owns it likes.
class SimClient {
 public:
  SimClient(std::string name, TalkWatcher& watcher) : name_(std::move(name)), watcher_(watcher) {}

  enum class State : std::uint8_t { apart, greeting, talking, over };
  State state() const { return state_; }
  const std::string& name() const { return name_; }
  /// "#NAME#NODE", once it started.
  const std::string& private_name() const { return private_name_; }
  /// That it was told, with the one that it is being told.
  std::uint64_t events() const { return events_; }

  /// A connection is there: says hello, in a session of its own or the one that it has.
  /// `shares`: it takes memory in which to read events.
  void connect(std::uint32_t keep_ms, bool shares);
  /// What was given with the connection; before hear() has its first byte.
  void share(ByteView memory) { memory_ = memory; }
  /// The connection broke.
  void cut();
  /// It never comes back, and says nothing.
  void vanish() { end(wire::ClientCode::silent); }

  // While talking. False if there is no room for more messages, or a request is under way.
  bool send(std::span<const std::string_view> targets, Service service, bool self_discard,
            ByteView payload);
  std::uint64_t next_number() const { return sent_ + 1; }
  bool join(std::string_view group, const wire::SlowLimits& limits);
  bool leave(std::string_view group);
  void goodbye();

  // Bytes to the daemon and of the daemon.
  ByteView output() const { return ByteView(output_).subspan(taken_); }
  void took(std::size_t bytes);
  void hear(ByteView bytes);

  /// Nothing is under way: all settled, all answered, all said.
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
  TalkWatcher& watcher_;
  State state_ = State::apart;
  std::string private_name_;
  wire::SessionToken token_{};
  bool started_ = false;
  bool leaving_ = false;  ///< goodbye was said
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
