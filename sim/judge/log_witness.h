// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"
#include "port/log.h"

namespace peal::sim {

/// Observes what a node reads from its log and writes to it.
class LogWitness {
 public:
  virtual ~LogWitness() = default;
  /// A process has opened the log with this id, and reads it next. `put_back`: the log was replaced
  /// by an older copy.
  virtual void on_log_opened(MemberId self, std::uint64_t id, bool put_back) = 0;
  virtual void on_log_read(NodeId node, LogPosition position, ByteView record) = 0;
  /// The process has read all records, up to `last`.
  virtual void on_log_replayed(NodeId node, LogPosition last) = 0;
  virtual void on_log_appended(NodeId node, LogPosition position, ByteView first,
                               ByteView rest) = 0;
  /// The node appended a checkpoint, and needs nothing before `keep_from` any more.
  virtual void on_log_checkpoint(NodeId node, LogPosition keep_from) = 0;
  virtual void on_log_durable(NodeId node, LogPosition upto) = 0;
};

/// Forwards to another log and reports every operation to a witness.
class WitnessedLog final : public port::Log {
 public:
  WitnessedLog(port::Log& log, MemberId self, bool put_back, LogWitness& witness)
      : log_(log), node_(self.node), witness_(witness) {
    witness_.on_log_opened(self, log_.id(), put_back);
  }

  Result<void, port::LogFailure> replay(port::LogReader& reader) override {
    WitnessReader both(*this, reader);
    auto read = log_.replay(both);
    if (read) witness_.on_log_replayed(node_, log_.last());
    return read;
  }
  Result<LogPosition, Errc> append(ByteView first, ByteView rest) override {
    const auto position = log_.append(first, rest);
    if (position) witness_.on_log_appended(node_, *position, first, rest);
    return position;
  }
  Result<LogPosition, Errc> checkpoint(ByteView record, LogPosition keep_from) override {
    const auto position = log_.checkpoint(record, keep_from);
    if (position) {
      witness_.on_log_appended(node_, *position, record, {});
      witness_.on_log_checkpoint(node_, keep_from);
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
      log_.witness_.on_log_read(log_.node_, position, record);
      reader_.on_record(position, record);
    }

   private:
    WitnessedLog& log_;
    port::LogReader& reader_;
  };

  port::Log& log_;
  const NodeId node_;
  LogWitness& witness_;
};

}  // namespace peal::sim
