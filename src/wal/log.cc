// SPDX-License-Identifier: Apache-2.0
#include "wal/log.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::wal {
namespace {

/// The options, with the id of the found or created log.
Options with_id(Options options, std::uint64_t log) {
  options.log = log;
  return options;
}

/// The first fault of the options, as one line; empty if there is none.
std::string fault_of(const Options& options) {
  const auto text = [](const char* name, std::uint64_t value, const std::string& accepted) {
    return std::string(name) + " = " + std::to_string(value) + ": accepted is " + accepted;
  };
  const std::uint64_t segment = options.segment_bytes;
  if (segment < kSegmentBytesMin || segment > kSegmentBytesMax || segment % kAlign != 0) {
    return text("segment_bytes", segment,
                "a multiple of 8 from " + std::to_string(kSegmentBytesMin) + " to " +
                    std::to_string(kSegmentBytesMax));
  }
  if (options.bytes_max / 4 < segment) {
    return text("bytes_max", options.bytes_max, "four times segment_bytes and more");
  }
  if (options.bytes_max / segment > kFilesMax / 2) {
    return text("bytes_max", options.bytes_max,
                "up to " + std::to_string(kFilesMax / 2) + " times segment_bytes");
  }
  if (options.read_bytes < kHeaderBytes || options.read_bytes > kSegmentBytesMax) {
    return text("read_bytes", options.read_bytes,
                std::to_string(kHeaderBytes) + " to " + std::to_string(kSegmentBytesMax));
  }
  const std::uint64_t most = segment - kHeaderBytes - 4 * kFrameBytes;
  if (options.record_bytes_max == 0 || options.record_bytes_max > most) {
    return text("record_bytes_max", options.record_bytes_max,
                "1 to " + std::to_string(most) + ", which fits a segment");
  }
  if (options.batch_bytes_max < frame_bytes(options.record_bytes_max) ||
      options.batch_bytes_max > kSegmentBytesMax) {
    return text("batch_bytes_max", options.batch_bytes_max,
                std::to_string(frame_bytes(options.record_bytes_max)) + " to " +
                    std::to_string(kSegmentBytesMax));
  }
  if (options.block_bytes < kFrameBytes || options.block_bytes % kAlign != 0 ||
      options.block_bytes > port::kDiskBlockBytes) {
    return text("block_bytes", options.block_bytes,
                "a multiple of 8 from " + std::to_string(kFrameBytes) + " to " +
                    std::to_string(port::kDiskBlockBytes));
  }
  if (options.owner.node.value == 0) return text("node", 0, "a number from 1");
  if (options.log == 0) return text("log", 0, "a random number from 1");
  return {};
}

}  // namespace

Result<std::unique_ptr<Log>, Problem> Log::open(port::Disk& disk, const Options& options,
                                                Start start) {
  if (std::string fault = fault_of(options); !fault.empty()) {
    return unexpected(Problem{Problem::Kind::bad_options, {}, 0, std::move(fault)});
  }
  auto recovered = start == Start::create ? create(disk, options) : recover(disk, options);
  if (!recovered) return unexpected(std::move(recovered.error()));
  return std::unique_ptr<Log>(new Log(disk, options, std::move(*recovered)));
}

Log::Log(port::Disk& disk, const Options& options, Recovered recovered)
    : disk_(disk),
      options_(with_id(options, recovered.log)),
      found_(recovered.found),
      writer_(disk_, options_, std::move(recovered.segments), recovered.found.last),
      disk_bytes_(writer_.bytes_on_disk()),
      last_(recovered.found.last),
      durable_(last_),
      filling_(options_.batch_bytes_max + Writer::room_behind(options_), options_.pages),
      committing_(options_.batch_bytes_max + Writer::room_behind(options_), options_.pages),
      result_(last_) {}

Result<void, port::LogFailure> Log::replay(port::LogReader& reader) {
  PEAL_ASSERT(!under_way_ && last_ == found_.last);
  return wal::replay(disk_, options_, writer_.segments(), reader);
}

Result<LogPosition, Errc> Log::append(ByteView first, ByteView rest) {
  return take(first, rest, options_.bytes_max);
}

Result<LogPosition, Errc> Log::checkpoint(ByteView record, LogPosition keep_from) {
  PEAL_ASSERT(keep_from <= last_.next());
  const auto position = take(record, {}, UINT64_MAX);
  if (position && (!keep_from_ || *keep_from_ < keep_from)) keep_from_ = keep_from;
  return position;
}

Result<LogPosition, Errc> Log::take(ByteView first, ByteView rest, std::uint64_t disk_bytes_max) {
  if (failure_ || closed_) return unexpected(Errc::closed);
  const std::size_t size = first.size() + rest.size();
  if (size > options_.record_bytes_max) return unexpected(Errc::too_large);
  const std::size_t bytes = frame_bytes(size);
  if (filling_.size() + bytes > options_.batch_bytes_max) return unexpected(Errc::would_block);
  // Includes the bytes of a new segment, which this record may begin.
  const std::uint64_t after =
      disk_bytes_ + committing_.size() + filling_.size() + bytes + options_.segment_bytes;
  if (after > disk_bytes_max) return unexpected(Errc::would_block);
  last_ = last_.next();
  if (filling_.empty()) filling_first_ = last_;
  const ByteSpan frame = filling_.grow(bytes);
  store<std::uint32_t>(frame.subspan(8), static_cast<std::uint32_t>(size));
  const auto behind = std::copy(first.begin(), first.end(), frame.begin() + kFrameBytes);
  std::copy(rest.begin(), rest.end(), behind);
  if (under_way_) more_.store(true, std::memory_order_relaxed);
  return last_;
}

bool Log::begin() {
  if (under_way_ || failure_ || filling_.empty()) return false;
  swap(committing_, filling_);
  more_.store(false, std::memory_order_relaxed);
  batch_ = {committing_.whole(), committing_.size(), filling_first_,
            std::exchange(keep_from_, std::nullopt), &more_};
  under_way_ = true;
  return true;
}

void Log::carry_out() { result_ = writer_.commit(batch_); }

void Log::finish() {
  PEAL_ASSERT(under_way_);
  under_way_ = false;
  committing_.clear();
  if (!result_) {
    fail(result_.error());
    return;
  }
  PEAL_ASSERT(*result_ >= durable_ && *result_ <= last_);
  durable_ = *result_;
  disk_bytes_ = writer_.bytes_on_disk();
}

bool Log::commit() {
  PEAL_ASSERT(!under_way_);
  if (begin()) {
    carry_out();
    finish();
  }
  return !failure_ && durable_ == last_;
}

Result<void, port::LogFailure> Log::close() {
  commit();
  if (!failure_ && !closed_) {
    const auto done = writer_.close();
    if (!done) fail(done.error());
  }
  closed_ = true;
  if (failure_) return unexpected(*failure_);
  return {};
}

void Log::fail(const port::DiskError& error) {
  const std::string then = error.kind == port::DiskError::Kind::full
                               ? ": the log has ended; free space, and start the node again"
                               : ": the log has ended; see to the disk, and start the node again";
  failure_ = port::LogFailure{writer_.file(), error.message + then};
}

}  // namespace peal::wal
