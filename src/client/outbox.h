// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/bytes.h"
#include "client/requests.h"
#include "client/spare_buffers.h"
#include "wire/client.h"

namespace peal::client {

/// What is to be written, and the messages that are not settled: they are written again on another
/// connection. Other records go with the connection.
class Outbox {
 public:
  /// What the daemon lets be unsettled.
  void set_limits(std::uint32_t messages_max, std::uint64_t bytes_max) {
    messages_max_ = messages_max;
    bytes_max_ = bytes_max;
  }
  bool fits(std::size_t payload_bytes) const;
  /// The next message; `bytes`: of its record, at most. Its number is set here, and returned.
  std::uint64_t push(wire::SendRequest request, std::size_t bytes);
  /// A record that is no message, to be filled.
  std::vector<std::byte>& say() { return control_.emplace_back().record; }
  /// A request with this number.
  void say_request(std::vector<std::byte> record, std::uint32_t number) {
    control_.push_back({std::move(record), number});
  }

  std::uint64_t settled() const { return settled_; }
  std::uint64_t sent() const { return settled_ + unsettled_.size(); }
  std::uint64_t unsettled() const { return unsettled_.size(); }
  /// The last message that the connection has taken whole.
  std::uint64_t taken() const { return settled_ + out_; }
  /// All messages up to this one got their places. It is between settled() and taken().
  void settle(std::uint64_t number);

  bool has_control() const { return !control_.empty(); }
  bool has_messages() const { return out_ < unsettled_.size(); }
  /// Appends references to bytes to write, at most `chunks_max`; valid until written(). `messages`:
  /// those may be written, too.
  void gather(std::vector<ByteView>& out, std::size_t chunks_max, bool messages);
  /// The first `bytes` of what gather() gave last were written.
  void written(std::size_t bytes, Requests& requests);

  void disconnected();
  /// On a new connection: the daemon has all messages up to `received`, and all up to `settled`
  /// are.
  void resume(std::uint64_t settled, std::uint64_t received);
  /// Nothing more is written.
  void end();

 private:
  struct Message {
    std::vector<std::byte> record;
    std::size_t payload_bytes = 0;
  };
  /// Something to write that is no message.
  struct Control {
    std::vector<std::byte> record;
    std::uint32_t request = 0;  ///< its number, if it is one
  };

  void forget_settled(std::uint64_t number);
  void forget_gathered() {
    gathered_.clear();
    gathered_bytes_.clear();
  }

  std::uint32_t messages_max_ = 0;
  std::uint64_t bytes_max_ = 0;
  std::deque<Message> unsettled_;  ///< messages settled_ + 1, settled_ + 2, …
  SpareBuffers spare_;
  std::uint64_t settled_ = 0;
  std::uint64_t unsettled_bytes_ = 0;  ///< payloads
  std::size_t out_ = 0;                ///< of unsettled_, that the connection has taken whole
  std::size_t partial_ = 0;            ///< bytes of the next chunk that it has taken
  bool partial_is_message_ = false;    ///< else it is of control_
  std::deque<Control> control_;
  std::vector<bool> gathered_;  ///< chunk by chunk: is it a message?
  std::vector<std::size_t> gathered_bytes_;
};

}  // namespace peal::client
