// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/ring_queue.h"
#include "order/ramcast/links.h"

namespace peal::order::ramcast {

/// The log of a leader, as a stream of entries into the region O of each other member of its
/// domain. A stream begins with a base for its member; all later entries are the same for all
/// members, and have the same numbers.
class LeaderLog {
 public:
  LeaderLog(const Parts& parts, Links& links);

  /// A new round; no member has a stream.
  void begin(const wire::Round& round, std::uint32_t seed);
  void end();

  /// The member has exposed a new region. Its stream begins: a base follows, with base().
  void grant(NodeIndex member, std::uint64_t grant);
  /// The member's stream ends: it is asked for a new region, or is gone.
  void drop(NodeIndex member);
  /// A write with this value belongs to the member's present stream.
  bool is_current(NodeIndex member, std::uint64_t value) const;
  bool granted(NodeIndex member) const { return streams_[member].grant != 0; }
  /// The member reads too slowly for its region: it needs a new grant, with a new base.
  bool stale(NodeIndex member) const { return streams_[member].stale; }
  /// An entry of the member's base. `entry.number` and `entry.round` are set here.
  void base(NodeIndex member, wire::LogEntry& entry, ByteView unit);
  /// Ends the member's base. `entry.stamp`: this server's clock.
  void end_base(NodeIndex member, wire::LogEntry& entry, ByteView view);

  /// An entry of this size fits the streams of enough members.
  bool has_room(std::size_t bytes) const;
  /// This member has a stream with room for any entry.
  bool has_room_at(NodeIndex member) const;
  /// Appends an entry to all streams, and returns its number. Members without room for it become
  /// stale.
  std::uint64_t append(wire::LogEntry& entry, ByteView unit);
  std::uint64_t last() const { return last_; }

  void on_open(NodeIndex member);
  /// A write ended. `value`: as it was given to Links::write().
  void on_done(NodeIndex member, std::uint64_t value);
  /// The last entry that the member has processed, as far as it has told.
  std::uint64_t processed(NodeIndex member) const { return streams_[member].processed; }
  /// The member has read so many bytes of this grant, and processed this entry. False if there are
  /// not so many.
  bool on_consumed(NodeIndex member, std::uint64_t grant, std::uint64_t bytes, std::uint64_t entry);
  void flush();

  /// The servers that hold all entries up to `entry`, this server included; bit i: the one at place
  /// i. They have processed them; or, with Options::fast, the entries are in the memory of a server
  /// that takes each at once. `at_once`: bit i: the server at place i is one, once it has taken its
  /// base.
  unsigned holders(std::uint64_t entry, unsigned at_once) const;
  /// The same for an entry with a unit. A base has no units: a server whose base stands for the
  /// entry does not hold it by its log.
  unsigned holders_of_unit(std::uint64_t entry, unsigned at_once) const;
  /// The member has processed the entry, and so has its unit.
  bool has_unit(NodeIndex member, std::uint64_t entry) const {
    const Stream& stream = streams_[member];
    return stream.base_up_to < entry && entry <= stream.processed;
  }

 private:
  struct Piece {
    std::uint64_t end = 0;    ///< offset behind the entry
    std::uint64_t entry = 0;  ///< its number, as is_held() counts
  };
  struct Stream {
    std::uint64_t grant = 0;  ///< 0: none
    bool stale = false;
    bool based = false;            ///< the base is complete
    std::uint64_t number = 0;      ///< of the last entry of the base
    std::uint64_t base_up_to = 0;  ///< the base stands for all entries up to this one
    std::vector<std::byte> image;
    std::uint64_t tail = 0, sent = 0, consumed = 0;  ///< offsets; they never wrap
    RingQueue<Piece> unsent;
    RingQueue<std::uint64_t> under_way;  ///< for each write, the last entry that it completes
    std::uint64_t placed = 0;            ///< all entries up to this one are in the member's memory
    std::uint64_t processed = 0;
  };

  bool fits(const Stream& stream, std::size_t bytes) const;
  bool takes(const Stream& stream, std::size_t bytes) const;
  void push(Stream& stream, const wire::LogEntry& entry, ByteView bytes, std::uint64_t counts_as);
  ByteView encode(const wire::LogEntry& entry, ByteView unit);

  const Parts& parts_;
  Links& links_;
  wire::Round round_{};
  std::uint32_t seed_ = 0;
  std::uint64_t last_ = 0;
  std::vector<Stream> streams_;  ///< by node
  std::vector<std::byte> scratch_;
};

/// The number of the first entry behind a base. Entries of a base have lower numbers, so that no
/// entry of an earlier lap of the region is mistaken for a later one.
inline constexpr std::uint64_t kFirstEntry = 1ULL << 24;
/// Offset of the next entry in the region: no entry begins in the last bytes.
constexpr std::uint64_t entry_offset(std::uint64_t offset, std::uint64_t region) {
  const std::uint64_t left = region - offset % region;
  return left < wire::kLogFixedBytes ? offset + left : offset;
}
std::size_t log_entry_bytes_max(const Options& options);

}  // namespace peal::order::ramcast
