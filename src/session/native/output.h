// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "session/session.h"
#include "wire/client.h"

namespace peal::session::native {

/// The bytes that one connection has to write: the events of its session, which are not copied, and
/// the records that are not events, which are written between events.
class Output {
 public:
  /// Adds a record that is not an event. `parts`: the record's struct, or its kind and its struct.
  template <class... Parts>
  void say(const Parts&... parts) {
    append(control_, parts...);
  }
  /// Call when a session begins on this connection. `acked`: the welcome acknowledged all messages
  /// up to this number. `repeat`: number of the first refusal to repeat; 0: none.
  void begin(std::uint64_t acked, std::uint64_t repeat) {
    acked_told_ = acked;
    repeat_ = repeat;
  }
  /// Call when the session leaves this connection. Of the session's events, only the rest of a
  /// partly written event is still written, so that the client can read the records after that
  /// event.
  void finish(const Session& session);

  /// Appends to `out` the bytes to write next, which are valid until the next call. `session`: null
  /// if there is none.
  void gather(Session* session, std::vector<ByteView>& out);
  /// Call when the first `bytes` bytes of the last gather() were written. Returns how many of these
  /// bytes belong to events that gather() put behind the other records.
  std::size_t written(Session* session, std::size_t bytes);

  /// True if no record waits to be written, except events.
  bool empty() const { return control_offset_ == control_.size(); }
  std::size_t unread_bytes() const { return control_.size() - control_offset_; }
  /// True if the buffer of records is small. A record that may be omitted is added only to a small
  /// buffer.
  bool is_small() const;
  /// True if refusals remain to be repeated. They must be written before any new refusal.
  bool repeats() const { return repeat_ > 0; }
  void check_invariants() const;

 private:
  void tell_acked(const Account& account);
  void repeat_refusals(const Account& account);

  std::vector<std::byte> control_;  ///< unwritten records that are not events
  std::size_t control_offset_ = 0;
  ChunkRef tail_;       ///< after finish(): a partly written event
  ByteView tail_rest_;  ///< unwritten bytes of `tail_`
  /// Numbers of bytes in the last gather(): of a partly written event, and of `control_` behind it.
  std::size_t planned_event_ = 0;
  std::size_t planned_control_ = 0;
  std::uint64_t acked_told_ = 0;
  std::uint64_t repeat_ = 0;  ///< number of the next refusal to repeat; 0: none
};

}  // namespace peal::session::native
