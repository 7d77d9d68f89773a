// SPDX-License-Identifier: Apache-2.0
#include "wal/writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::wal {
namespace {

/// Behind the frames of a batch there is always room for a mark, a second one and the end.
constexpr std::uint64_t kReserveBytes = 3 * kFrameBytes;

std::size_t frame_at(ByteView frames, std::size_t at) {
  return frame_bytes(load<std::uint32_t>(frames.subspan(at + 8)));
}

}  // namespace

Writer::Writer(port::Disk& disk, const Options& options, std::deque<Segment> segments,
               LogPosition last)
    : disk_(disk),
      options_(options),
      segments_(std::move(segments)),
      oldest_(segments_.front().serial),
      file_(segment_name(segments_.back().serial)),
      written_(last),
      durable_(last) {}

std::uint64_t Writer::bytes_on_disk() const {
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments_) bytes += segment.bytes;
  return bytes;
}

port::DiskResult<LogPosition> Writer::commit(const Batch& batch) {
  PEAL_ASSERT(batch.first == written_.next());
  std::size_t run = 0;  // frames from here to `at` are sealed, and go to the disk in one write
  std::size_t at = 0;
  LogPosition position = written_;
  Done done;
  while (done && at < batch.frames.size()) {
    const std::size_t bytes = frame_at(batch.frames, at);
    if (!open_ || end_ + (at - run) + bytes + kReserveBytes > options_.segment_bytes) {
      if (at > run) done = write(batch.frames.subspan(run, at - run));
      written_ = position;
      run = at;
      if (done) done = next_segment();
      if (!done) break;
    }
    PEAL_ASSERT(end_ + (at - run) + bytes + kReserveBytes <= options_.segment_bytes);
    position = position.next();
    const std::size_t record_bytes = load<std::uint32_t>(batch.frames.subspan(at + 8));
    const Frame frame{FrameKind::record, position, durable_, oldest_, {}};
    seal_frame(batch.frames.subspan(at, bytes), frame, record_bytes, seed_);
    at += bytes;
  }
  if (done && at > run) done = write(batch.frames.subspan(run, at - run));
  if (!done) return unexpected(done.error());
  written_ = position;
  if (!PEAL_MUTANT(wm2_sync_not_awaited)) done = sync();
  // Without a sync: should the record before it be damaged later, the mark will say that it was
  // durable. A power failure before the next sync may lose the mark, and nothing else.
  if (done) durable_ = written_;
  if (done) done = write_frame(FrameKind::mark);
  if (done && batch.keep_from) done = remove_unneeded(*batch.keep_from);
  if (!done) return unexpected(done.error());
  return durable_;
}

port::DiskResult<void> Writer::close() {
  Done done;
  if (open_) done = end_segment();
  open_ = false;
  return done;
}

Writer::Done Writer::write(ByteView frames) {
  PEAL_ASSERT(open_ && end_ + frames.size() <= options_.segment_bytes);
  Done done = disk_.write(file_, end_, frames);
  if (done) end_ += frames.size();
  return done;
}

Writer::Done Writer::write_frame(FrameKind kind) {
  std::array<std::byte, kFrameBytes> bytes{};
  seal_frame(bytes, Frame{kind, written_, durable_, oldest_, {}}, 0, seed_);
  return write(bytes);
}

Writer::Done Writer::sync() { return disk_.sync(file_); }

/// All that the segment holds is durable afterwards, with its end.
Writer::Done Writer::end_segment() {
  Done done = write_frame(FrameKind::end);
  if (done) done = sync();
  if (done) durable_ = written_;
  return done;
}

Writer::Done Writer::next_segment() {
  if (open_) {
    Done ended = end_segment();
    if (!ended) return ended;
  }
  const SegmentHeader header{options_.owner,  options_.epoch, segments_.back().serial + 1,
                             written_.next(), oldest_,        options_.salt};
  file_ = segment_name(header.serial);
  const auto seed = make_segment(disk_, header, options_.segment_bytes, spare_);
  if (!seed) return unexpected(seed.error());
  spare_.clear();
  segments_.push_back({header.serial, header.first, options_.segment_bytes});
  open_ = true;
  seed_ = *seed;
  end_ = kHeaderBytes;
  return {};
}

/// First the log says durably what is not needed, then that is removed: whoever reads it after a
/// crash knows whether something that is not there should be. One of the files is kept for the next
/// segment, whose bytes then have their places on the disk already: to sync them costs half as much
/// as those of a new file.
Writer::Done Writer::remove_unneeded(LogPosition keep_from) {
  std::size_t count = 0;
  while (count + 1 < segments_.size() && segments_[count + 1].first <= keep_from) ++count;
  if (count == 0) return {};
  oldest_ = segments_[count].serial;
  Done done = write_frame(FrameKind::mark);
  if (done && !PEAL_MUTANT(wm7_trim_not_durable)) done = sync();
  const std::string newest = file_;
  for (; done && count > 0; --count) {
    file_ = segment_name(segments_.front().serial);
    if (spare_.empty() && segments_.front().bytes == options_.segment_bytes) {
      spare_ = file_ + std::string(kSpareSuffix);
      done = disk_.rename(file_, spare_);
    } else {
      done = disk_.remove(file_);
    }
    if (done) segments_.pop_front();
  }
  if (!done) return done;
  file_ = newest;
  return disk_.sync_folder();
}

}  // namespace peal::wal
