// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "order/ramcast/area.h"
#include "order/ramcast/parts.h"

namespace peal::order::ramcast {

/// Records in this process's memory that their writer should not have written. They stay there, and
/// are read again and again: each counts once, and is reported once for each incarnation of the
/// writer, region and reason. Of one writer and region, a few records are remembered at a time.
class BadRecords {
 public:
  explicit BadRecords(const Parts& parts) : parts_(parts), writers_(parts.layout.nodes()) {}

  void begin_turn(Instant now) { now_ = now; }
  /// The record at `offset` breaks a rule; with bad_checksum, it is in doubt.
  void refuse(NodeIndex writer, Area area, std::uint64_t offset, ByteView record,
              wire::Drop reason);
  /// The record at `offset` has a wrong checksum or size, as long as its write is under way. It
  /// breaks a rule if its writer lives and it stays the same for longer than it takes to exclude a
  /// server. Memory that was never written is no record.
  void doubt(NodeIndex writer, Area area, std::uint64_t offset, ByteView record, wire::Drop reason);
  /// The node lives: something new came from it.
  void note_life(NodeIndex writer) { writers_[writer].heard = now_; }
  /// This process did not run for a while: what is in doubt may have been complete since long ago.
  void on_pause();
  /// The incarnation of the node that writes here.
  const MemberId& writer(NodeIndex node) const { return writers_[node].who; }
  /// A new incarnation of the node: what the former one wrote is gone.
  void on_renewed(NodeIndex writer, const MemberId& who) { writers_[writer] = {who, {}, {}}; }
  /// Reports what is new.
  void report(const ViewId& view, Effects& out);

 private:
  static constexpr std::size_t kAreas = 5;
  static constexpr std::size_t kRecords = 4;
  struct Seen {
    std::uint64_t offset = 0;
    std::uint32_t checksum = 0;  ///< of the bytes
    bool used = false;
    bool counted = false;
    Instant since{};  ///< in doubt since then
    Instant last{};   ///< when it was read last
  };
  struct Written {
    std::array<Seen, kRecords> seen{};
    std::uint32_t told = 0;     ///< bit i: reason i was reported
    std::uint32_t to_tell = 0;  ///< and these are new
  };
  struct Writer {
    MemberId who{};
    Instant heard{};
    std::array<Written, kAreas> areas{};
  };

  /// What is known of the record; null if all records that are remembered are in use.
  Seen* find(Written& written, std::uint64_t offset, ByteView record);
  void count(Written& written, Seen& seen, wire::Drop reason);

  const Parts& parts_;
  std::vector<Writer> writers_;
  Instant now_{};
  bool news_ = false;
};

}  // namespace peal::order::ramcast
