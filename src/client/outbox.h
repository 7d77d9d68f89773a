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

/// The output for the connection, and the messages that are not acknowledged. Messages that the
/// daemon does not have are written again on the next connection. All other records are dropped
/// with their connection.
class Outbox {
 public:
  /// Sets the maximum number of unacknowledged messages, and of bytes of their payloads. The
  /// daemon's welcome has both limits.
  void set_limits(std::uint32_t messages_max, std::uint64_t bytes_max) {
    messages_max_ = messages_max;
    bytes_max_ = bytes_max;
  }
  bool fits(std::size_t payload_bytes) const;
  /// Adds a message, and returns the number of the message. `bytes`: upper bound for the size of
  /// the message's record.
  std::uint64_t push(wire::SendRequest request, std::size_t bytes);
  /// Adds a record that is not a message. Returns the empty record, which the caller fills.
  std::vector<std::byte>& say() { return control_.emplace_back().record; }
  /// Adds the record of the request with this number.
  void say_request(std::vector<std::byte> record, std::uint32_t number) {
    control_.push_back({std::move(record), number});
  }

  std::uint64_t settled() const { return settled_; }
  std::uint64_t sent() const { return settled_ + unsettled_.size(); }
  std::uint64_t unsettled() const { return unsettled_.size(); }
  /// Number of the last message of which the connection has taken all bytes.
  std::uint64_t taken() const { return settled_ + out_; }
  /// Call when the daemon acknowledged all messages up to `number`. `number` must be from settled()
  /// to taken().
  void settle(std::uint64_t number);

  bool has_control() const { return !control_.empty(); }
  bool has_messages() const { return out_ < unsettled_.size(); }
  /// Appends to `out` at most `chunks_max` references to the bytes that are to be written next. The
  /// references are valid until written(). `messages`: false if messages must not be written yet,
  /// only other records.
  void gather(std::vector<ByteView>& out, std::size_t chunks_max, bool messages);
  /// Call when the first `bytes` bytes of the last gather() were written.
  void written(std::size_t bytes, Requests& requests);

  void disconnected();
  /// Call on a new connection. The daemon has received all messages up to `received`, and has
  /// acknowledged all messages up to `settled`.
  void resume(std::uint64_t settled, std::uint64_t received);
  /// Call when no more output will be written.
  void end();

 private:
  struct Message {
    std::vector<std::byte> record;
    std::size_t payload_bytes = 0;
  };
  /// A record that is not a message.
  struct Control {
    std::vector<std::byte> record;
    std::uint32_t request = 0;  ///< number of the request; 0: not a request
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
  std::uint64_t unsettled_bytes_ = 0;  ///< bytes of the payloads in unsettled_
  std::size_t out_ = 0;                ///< how many of unsettled_ the connection has taken
  /// How many bytes of the next chunk the connection has taken.
  std::size_t partial_ = 0;
  bool partial_is_message_ = false;  ///< the next chunk is in unsettled_; false: in control_
  std::deque<Control> control_;
  std::vector<bool> gathered_;  ///< for each chunk of the last gather(): true if it is a message
  std::vector<std::size_t> gathered_bytes_;
};

}  // namespace peal::client
