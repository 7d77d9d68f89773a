// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "io/fabric/channel.h"
#include "io/fabric/records.h"
#include "io/fabric/staged_writes.h"
#include "port/memory.h"

namespace peal::io::fabric {

/// Asks an owner whether it exposes a region that the writer does not know. The owner answers that
/// it does not, or its region is on its way.
class RegionQuestion {
 public:
  enum class Answer : std::uint8_t {
    none,    ///< it has not come yet
    denied,  ///< the region is not exposed
  };
  /// Asks for the place of write `index`, unless the answer for it has come. An answer is good for
  /// the writes that were waiting when the question was asked.
  Answer ask(const StagedWrites& staged, const StagedWrite& write, Channel& channel) {
    const bool is_same =
        asked_ && asked_->number == write.place.number && asked_->epoch == write.place.epoch;
    if (is_same && !asked_->is_denied) return Answer::none;
    if (is_same && write.index <= asked_->newest) return Answer::denied;
    asked_ = Asked{write.place.number, write.place.epoch, ++count_, staged.newest(), false};
    Record record;
    record.kind = Record::Kind::ask;
    record.number = write.place.number;
    record.epoch = write.place.epoch.value;
    record.count = count_;
    channel.end_frame(encode_record(record, channel.begin_frame(kRecordBytes)));
    return Answer::none;
  }
  /// The owner does not know the region of the question with this number.
  void on_unknown(std::uint32_t id) {
    if (asked_ && asked_->id == id) asked_->is_denied = true;
  }
  /// The region has come: the owner gives no other answer.
  void on_known(std::uint8_t number, std::uint64_t epoch) {
    if (asked_ && asked_->number == number && asked_->epoch.value == epoch) asked_.reset();
  }

 private:
  struct Asked {
    std::uint8_t number{};
    port::Epoch epoch{};
    std::uint32_t id{};
    std::uint64_t newest{};  ///< the answer is for writes up to this one
    bool is_denied = false;  ///< the answer has come
  };
  std::optional<Asked> asked_;
  std::uint32_t count_ = 0;
};

}  // namespace peal::io::fabric
