// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "base/ids.h"
#include "order/evs/protocol.h"
#include "order/evs/timers.h"
#include "order/member_set.h"
#include "wire/frames.h"

namespace peal::order::evs {

enum class State : std::uint8_t { gather, commit, recovery, operational };

/// The state and the last installed view of this member.
struct Place {
  State state = State::gather;
  ViewId view{};  ///< the last installed view
  MemberSet members;
  std::uint16_t index = 0;

  bool operational() const { return state == State::operational; }
  bool announced() const { return view.number != 0; }  ///< false until the first view is installed
  const MemberId& predecessor() const {
    return members[(index + members.size() - 1) % members.size()];
  }
};

/// Counters of the membership since the start.
struct Tally {
  std::array<std::uint64_t, static_cast<std::size_t>(wire::Drop::count_)> drops{};
  std::uint64_t joins_sent = 0, joins_received = 0, probes_sent = 0, gathers = 0, commits = 0;
  std::uint64_t lists_adopted = 0, trials = 0;
  std::uint64_t views_installed = 0, silences = 0, resent = 0, unsendable = 0;

  void drop(wire::Drop reason) { ++drops[static_cast<std::size_t>(reason)]; }
};

/// Builds the packets of this member.
class Frames {
 public:
  Frames(const Settings& settings, const MemberId& self, Tally& tally)
      : settings_(settings), self_(self), tally_(tally) {}

  wire::Header header(wire::FrameKind kind) const {
    return {kind, settings_.cluster, self_, settings_.checksum};
  }
  /// Encodes a frame as a packet of this member. Returns an empty reference, and counts the
  /// failure, if the frame fits no buffer or no buffer is free.
  template <class Frame, class Encode>
  BufferRef build(wire::FrameKind kind, const Frame& frame, Encode encode) {
    BufferRef packet = pool_.take();
    const std::size_t bytes =
        packet ? encode(header(kind), frame, ByteSpan{packet.data(), packet.size()}) : 0;
    if (bytes == 0) {
      ++tally_.unsendable;
      return {};
    }
    packet.truncate(static_cast<std::uint32_t>(bytes));
    return packet;
  }

 private:
  // A control frame may be as large as a datagram. A few buffers are enough: the transport takes
  // each at once, and the membership keeps only one packet (TrackedPacket).
  static constexpr std::uint32_t kBuffers = 64;

  const Settings& settings_;
  const MemberId& self_;
  Tally& tally_;
  BufferPool pool_{static_cast<std::uint32_t>(wire::kPacketBytesMax), kBuffers};
};

/// What the classes of one membership share. Each class also has its own state, and changes the
/// state of another class only by calling functions of that class.
struct Parts {
  const Settings& settings;
  const MemberId& self;  ///< its epoch may change until the first view
  const Place& place;
  Timers& timers;
  Tally& tally;
  Frames& frames;
};

}  // namespace peal::order::evs
