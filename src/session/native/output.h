// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "session/session.h"
#include "wire/client.h"

namespace peal::session::native {

/// What one connection has to write: its session's events, which are not copied, and between them
/// the records that are not events.
class Output {
 public:
  /// Adds a record: its struct, or its kind and its struct.
  template <class... Parts>
  void say(const Parts&... parts) {
    append(control_, parts...);
  }
  /// The session begins on this connection. `acked`: the client was told that all messages up to
  /// this number are acknowledged. `repeat`: number of the first refusal to repeat; 0: none.
  void begin(std::uint64_t acked, std::uint64_t repeat) {
    acked_told_ = acked;
    repeat_ = repeat;
  }
  /// The session leaves this connection: events end with the one that is partly written, so that
  /// the client can read the records after it.
  void finish(const Session& session);

  /// Appends the bytes to write next; valid until the next call. `session`: null if there is none.
  void gather(Session* session, std::vector<ByteView>& out);
  /// The first `bytes` of the last gather() were written. Returns how many of these bytes belong to
  /// events that gather() put behind the other records.
  std::size_t written(Session* session, std::size_t bytes);

  /// No record other than events waits.
  bool empty() const { return control_offset_ == control_.size(); }
  std::size_t unread_bytes() const { return control_.size() - control_offset_; }
  /// The buffer of records takes no more memory than it may keep.
  bool is_small() const;
  /// Refusals remain to be repeated. The client reads them before any new refusals.
  bool repeats() const { return repeat_ > 0; }
  void check_invariants() const;

 private:
  void tell_acked(const Account& account);
  void repeat_refusals(const Account& account);

  std::vector<std::byte> control_;  ///< unwritten records that are not events
  std::size_t control_offset_ = 0;
  ChunkRef tail_;       ///< after finish(): a partly written event
  ByteView tail_rest_;  ///< the rest of it
  /// The bytes that gather() gave: of a partly written event, and of `control_` behind it.
  std::size_t planned_event_ = 0;
  std::size_t planned_control_ = 0;
  std::uint64_t acked_told_ = 0;
  std::uint64_t repeat_ = 0;  ///< next refusal to repeat; 0: none
};

}  // namespace peal::session::native
