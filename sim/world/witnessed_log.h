// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"
#include "order/inspection/inspection.h"
#include "port/log.h"

namespace peal::sim {

/// Forwards to another log and reports every operation to a ghost.
class WitnessedLog final : public port::Log {
 public:
  WitnessedLog(port::Log& log, MemberId self, bool put_back, order::Ghost& ghost)
      : log_(log), node_(self.node), ghost_(ghost) {
    ghost_.on_log_opened(self, log_.id(), put_back);
  }

  Result<void, port::LogFailure> replay(port::LogReader& reader) override {
    WitnessReader both(*this, reader);
    auto read = log_.replay(both);
    if (read) ghost_.on_log_replayed(node_, log_.last());
    return read;
  }
  Result<LogPosition, Errc> append(ByteView first, ByteView rest) override {
    const auto position = log_.append(first, rest);
    if (position) ghost_.on_log_appended(node_, *position, first, rest);
    return position;
  }
  Result<LogPosition, Errc> checkpoint(ByteView record, LogPosition keep_from) override {
    const auto position = log_.checkpoint(record, keep_from);
    if (position) {
      ghost_.on_log_appended(node_, *position, record, {});
      ghost_.on_log_checkpoint(node_, keep_from);
    }
    return position;
  }
  std::uint64_t id() const override { return log_.id(); }
  LogPosition last() const override { return log_.last(); }
  LogPosition durable() const override { return log_.durable(); }
  const std::optional<port::LogFailure>& failure() const override { return log_.failure(); }

 private:
  class WitnessReader final : public port::LogReader {
   public:
    WitnessReader(WitnessedLog& log, port::LogReader& reader) : log_(log), reader_(reader) {}
    void on_record(LogPosition position, ByteView record) override {
      log_.ghost_.on_log_read(log_.node_, position, record);
      reader_.on_record(position, record);
    }

   private:
    WitnessedLog& log_;
    port::LogReader& reader_;
  };

  port::Log& log_;
  const NodeId node_;
  order::Ghost& ghost_;
};

}  // namespace peal::sim
