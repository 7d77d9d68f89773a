// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ring_queue.h"
#include "io/fabric/ends.h"
#include "port/memory.h"

namespace peal::io::fabric {

/// The writes of one connection that have left, and the operations that carry them: a large write
/// has several. Operations on different queue pairs complete in any order; writes end in the order
/// of the calls.
class VerbsFlights {
 public:
  /// What an operation does.
  enum class Task : std::uint8_t {
    data,  ///< a part of a write
    bell,  ///< counts writes at the owner
    look,  ///< reads whether the owner sleeps
  };
  struct Operation {
    Task task = Task::data;
    std::uint8_t number{};  ///< of the region
    std::uint32_t pair{};   ///< the serial number of the queue pair
    std::uint64_t write{};  ///< the index of the write, with Task::data
    std::size_t buffer_bytes{};
    bool is_over = false;
  };

  std::size_t operations() const { return operations_.size(); }
  bool is_idle() const { return operations_.empty(); }
  /// A write begins: its operations follow. Returns its index.
  std::uint64_t begin(std::uint64_t token) {
    writes_.push_back({token, 0, false, port::WriteEnd::ok});
    return first_write_ + writes_.size() - 1;
  }
  /// The last operation of the newest write has left, or it has none.
  void complete_last() { writes_[writes_.size() - 1].has_left = true; }
  /// The newest write ends as denied, whatever its operations do.
  void deny_last() { writes_[writes_.size() - 1].end = port::WriteEnd::denied; }
  /// An operation leaves. Returns its number, which comes back with its completion.
  std::uint64_t start(const Operation& operation) {
    operations_.push_back(operation);
    if (operation.task == Task::data) ++write_of(operation.write).open;
    return first_operation_ + operations_.size() - 1;
  }
  /// The operation with this number, or null if it is over.
  Operation* find(std::uint64_t number) {
    if (number < first_operation_ || number - first_operation_ >= operations_.size()) {
      return nullptr;
    }
    Operation& found = operations_[number - first_operation_];
    return found.is_over ? nullptr : &found;
  }
  /// The operation has ended.
  void finish(Operation& operation, port::WriteEnd end) {
    operation.is_over = true;
    if (operation.task != Task::data) return;
    Write& write = write_of(operation.write);
    --write.open;
    if (end != port::WriteEnd::ok) write.end = end;
  }
  /// All operations of a queue pair that is gone have ended.
  void finish_pair(std::uint32_t pair, port::WriteEnd end) {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      Operation& each = operations_[i];
      if (each.pair == pair && !each.is_over) finish(each, end);
    }
  }
  /// Forgets the operations at the front that are over. `release` gets their bytes of the buffer.
  template <class Release>
  void sweep(const Release& release) {
    while (!operations_.empty() && operations_.front().is_over) {
      release(operations_.front().buffer_bytes);
      operations_.pop_front();
      ++first_operation_;
    }
  }
  /// Ends the writes at the front whose operations are over; with `all`, ends the others as down.
  void end_writes(Ends& ends, WriteCounters& counters, bool all) {
    while (!writes_.empty()) {
      const Write& front = writes_.front();
      const bool is_over = front.has_left && front.open == 0;
      if (!is_over && !all) return;
      ends.add(front.token, is_over ? front.end : port::WriteEnd::down, counters);
      writes_.pop_front();
      ++first_write_;
    }
  }

 private:
  struct Write {
    std::uint64_t token{};
    std::uint32_t open{};   ///< operations under way
    bool has_left = false;  ///< there will be no more operations
    port::WriteEnd end = port::WriteEnd::ok;
  };
  Write& write_of(std::uint64_t index) { return writes_[index - first_write_]; }

  RingQueue<Operation> operations_;
  std::uint64_t first_operation_ = 0;
  RingQueue<Write> writes_;
  std::uint64_t first_write_ = 0;
};

}  // namespace peal::io::fabric
