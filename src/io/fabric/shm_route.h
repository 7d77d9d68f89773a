// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/fabric/bell.h"
#include "io/fabric/offences.h"
#include "io/fabric/region_question.h"
#include "io/fabric/route.h"

namespace peal::io::fabric {

/// Writes are stores to the owner's memory. A write ends as ok if its bytes were stored, a full
/// fence passed, and the guard of the region still has the epoch.
///
/// The owner's messages say which memory belongs to a region. A packet of the owner's engine that
/// names an epoch may overtake them. So a write to a region that is not known waits, and the owner
/// is asked: it says that the region's memory is on its way, or that the write is denied. Later
/// writes to that owner wait, too.
class ShmRoute final : public Route {
 public:
  ShmRoute(const MemberId& owner, WriterBell bell, const Limits& limits, Counters& counters,
           Offences& offences, WriteCounters& writes);

  void on_record(const Record& record, Channel& channel) override;
  bool pump(StagedWrites& staged, Channel& channel, Ends& ends) override;
  void on_turn(Instant now, Channel& channel) override;
  std::optional<Instant> next_deadline() const override {
    return owes_wake_ ? std::optional<Instant>(next_wake_) : std::nullopt;
  }
  void finish(Ends& /*ends*/) override {}

 private:
  static constexpr std::size_t kBatchMax = 1'024;
  struct Mapped {
    port::Epoch epoch{};
    Mapping pages;  ///< none if the memory was refused: all writes are denied
    bool is_refused() const { return pages.view().empty(); }
    std::size_t bytes() const;
    bool is_open() const;
  };
  enum class Step : std::uint8_t { stored, denied, wait };

  Step store_write(const StagedWrites& staged, std::size_t index, std::size_t at, Channel& channel);
  void end_batch(StagedWrites& staged, Ends& ends);
  void wake(Channel& channel);
  void map(const Record& record, Channel& channel);
  void refuse(Offence::Kind kind, std::string why);
  void unmap(std::uint8_t number);

  MemberId owner_;
  WriterBell bell_;
  const Limits& limits_;
  Counters& counters_;
  Offences& offences_;
  WriteCounters& writes_;
  std::array<std::unique_ptr<Mapped>, 256> regions_;  ///< by number
  std::size_t mapped_bytes_ = 0;
  Instant now_{};           ///< of this turn
  Instant next_wake_{};     ///< the owner is not woken up before; see Limits::wake_gap
  bool owes_wake_ = false;  ///< it was asleep when something was written
  RegionQuestion question_;
  std::vector<Mapped*> batch_;  ///< of each write in this step its region, or null: denied
};

}  // namespace peal::io::fabric
