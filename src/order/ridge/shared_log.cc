// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/shared_log.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"

namespace peal::order::ridge {

class SharedLog::Part final : public port::Log {
 public:
  struct Kept {
    LogPosition position{};
    std::vector<std::byte> record;
  };

  Part(SharedLog& shared, std::uint8_t of) : number(of), shared_(shared) {}

  Result<void, port::LogFailure> replay(port::LogReader& reader) override {
    for (const Kept& each : std::exchange(kept, {})) reader.on_record(each.position, each.record);
    return {};
  }
  Result<LogPosition, Errc> append(ByteView first, ByteView rest) override {
    return shared_.log_.append(shared_.labelled(number, first), rest);
  }
  Result<LogPosition, Errc> checkpoint(ByteView record, LogPosition keep_from) override {
    const LogPosition before = std::exchange(needed_from, keep_from);
    auto position = shared_.checkpoint(shared_.labelled(number, record));
    if (!position) needed_from = before;
    return position;
  }
  std::uint64_t id() const override { return shared_.log_.id(); }
  LogPosition last() const override { return shared_.log_.last(); }
  LogPosition durable() const override { return shared_.log_.durable(); }
  const std::optional<port::LogFailure>& failure() const override { return shared_.log_.failure(); }

  const std::uint8_t number;
  std::vector<Kept> kept;
  LogPosition needed_from{};  ///< this acceptor needs no record before this position

 private:
  SharedLog& shared_;
};

SharedLog::SharedLog(port::Log& log, const std::vector<std::uint8_t>& numbers) : log_(log) {
  PEAL_ASSERT(!numbers.empty());
  for (const std::uint8_t number : numbers) {
    parts_.push_back(std::make_unique<Part>(*this, number));
  }
}

SharedLog::~SharedLog() = default;

bool SharedLog::replay() {
  struct Sorter final : port::LogReader {
    explicit Sorter(SharedLog& to) : shared(to) {}
    void on_record(LogPosition position, ByteView record) override {
      if (!first) first = position;
      const auto part = std::find_if(
          shared.parts_.begin(), shared.parts_.end(), [&](const std::unique_ptr<Part>& each) {
            return !record.empty() && each->number == std::to_integer<std::uint8_t>(record[0]);
          });
      if (part == shared.parts_.end()) {
        fine = false;
        return;
      }
      (*part)->kept.push_back({position, {record.begin() + 1, record.end()}});
    }
    SharedLog& shared;
    std::optional<LogPosition> first;
    bool fine = true;
  };
  Sorter sorter(*this);
  if (!log_.replay(sorter) || !sorter.fine) return false;
  const LogPosition first = sorter.first.value_or(log_.last().next());
  for (const auto& part : parts_) part->needed_from = first;
  return true;
}

port::Log& SharedLog::of(std::size_t index) { return *parts_[index]; }

// Keeps the first record that any acceptor needs, and all records after it. The last checkpoint of
// an acceptor is never before the first record that this acceptor needs, so the log keeps the
// checkpoint too.
Result<LogPosition, Errc> SharedLog::checkpoint(ByteView labelled) {
  LogPosition keep_from = parts_.front()->needed_from;
  for (const auto& part : parts_) keep_from = std::min(keep_from, part->needed_from);
  return log_.checkpoint(labelled, keep_from);
}

ByteView SharedLog::labelled(std::uint8_t acceptor, ByteView record) {
  scratch_.clear();
  scratch_.push_back(static_cast<std::byte>(acceptor));
  scratch_.insert(scratch_.end(), record.begin(), record.end());
  return scratch_;
}

}  // namespace peal::order::ridge
