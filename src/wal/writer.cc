// SPDX-License-Identifier: Apache-2.0
#include "wal/writer.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::wal {
namespace {

/// Bytes that a segment keeps free behind the frames of a batch: for two marks and the end frame.
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
      durable_(last),
      filler_(room_behind(options)) {}

std::uint64_t Writer::bytes_on_disk() const {
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments_) bytes += segment.bytes;
  return bytes;
}

port::DiskResult<LogPosition> Writer::commit(const Batch& batch) {
  PEAL_ASSERT(batch.first == written_.next());
  Done done = write_frames(batch);
  if (done && !PEAL_MUTANT(wm2_sync_not_awaited)) done = sync();
  if (done) durable_ = written_;
  // The mark is not synced. If the record before the mark is damaged later, the mark proves that
  // this record was durable. A power failure before the next sync may lose only the mark. If
  // records wait for the next commit, their frames prove the same, and no mark is needed.
  if (done && !batch.more->load(std::memory_order_relaxed)) done = write_mark();
  if (done && batch.keep_from) done = remove_unneeded(*batch.keep_from);
  if (!done) return unexpected(done.error());
  return durable_;
}

Writer::Done Writer::write_frames(const Batch& batch) {
  std::size_t run = 0;  // the frames from `run` to `at` are sealed, and go to the disk in one write
  std::size_t at = 0;
  LogPosition position = written_;
  const bool whole_blocks = batch.bytes >= options_.blocks_from;
  Done done;
  while (done && at < batch.bytes) {
    const std::size_t bytes = frame_at(batch.memory, at);
    if (!open_ || !fits(at - run + bytes)) {
      if (at > run) done = write(batch.memory.subspan(run, at - run), at - run);
      written_ = position;
      run = at;
      if (done) done = next_segment();
    }
    // Only the first frame of the batch begins at a block boundary in memory.
    if (done && at == 0 && whole_blocks) done = fill_block(bytes);
    if (!done) break;
    PEAL_ASSERT(fits(at - run + bytes));
    position = position.next();
    const std::size_t record_bytes = load<std::uint32_t>(batch.memory.subspan(at + 8));
    const Frame frame{FrameKind::record, position, durable_, oldest_, {}};
    seal_frame(batch.memory.subspan(at, bytes), frame, record_bytes, seed_);
    at += bytes;
  }
  written_ = position;
  if (done) done = write_last(batch.memory.subspan(run), batch.bytes - run, whole_blocks);
  return done;
}

/// Writes the frames. Fills the rest of their last block with a mark, or with zeros that the next
/// frame replaces. Otherwise the disk would have to read the block first.
Writer::Done Writer::write_last(ByteSpan memory, std::size_t frames, bool whole_blocks) {
  const std::uint64_t place = end_ + frames;
  const std::size_t mark = mark_to_fill(place);
  const bool marked = whole_blocks && fits(frames + mark);
  const std::size_t rest =
      marked ? mark : std::min<std::uint64_t>(to_block_end(place), options_.segment_bytes - place);
  const ByteSpan behind = memory.subspan(frames, rest);
  std::fill(behind.begin(), behind.end(), std::byte{0});
  if (marked && mark != 0) seal(FrameKind::mark, behind);
  return write(memory.first(frames + rest), marked ? frames + rest : frames);
}

/// Writes `bytes` behind the segment's last frame. The first `frames` bytes are frames; the next
/// write replaces the other bytes.
Writer::Done Writer::write(ByteView bytes, std::size_t frames) {
  PEAL_ASSERT(open_ && end_ + bytes.size() <= options_.segment_bytes);
  Done done = disk_.write(file_, end_, bytes);
  if (done) end_ += frames;
  return done;
}

/// Seals a frame without a record. The bytes behind its head must be zeros.
void Writer::seal(FrameKind kind, ByteSpan frame) const {
  const LogPosition durable = PEAL_MUTANT(wm10_durable_too_early) ? written_ : durable_;
  seal_frame(frame, Frame{kind, written_, durable, oldest_, {}}, frame.size() - kFrameBytes, seed_);
}

Writer::Done Writer::write_frame(FrameKind kind, std::size_t bytes) {
  const ByteSpan frame = ByteSpan(filler_).first(bytes);
  seal(kind, frame);
  return write(frame, bytes);
}

/// Writes a mark. A mark that reaches into a block without frames fills that block. Otherwise the
/// disk would have to read the rest of the block.
Writer::Done Writer::write_mark() {
  const std::size_t rest = to_block_end(end_);
  const std::size_t fills = rest < kFrameBytes ? rest + options_.block_bytes : kFrameBytes;
  return write_frame(FrameKind::mark, fits(fills) ? fills : kFrameBytes);
}

/// Fills the current block with a mark, so that the next frame, of `next` bytes, begins at a block
/// boundary. Does nothing if the mark and the next frame do not fit into the segment.
Writer::Done Writer::fill_block(std::size_t next) {
  const std::size_t mark = mark_to_fill(end_);
  if (mark == 0 || !fits(mark + next)) return {};
  return write_frame(FrameKind::mark, mark);
}

bool Writer::fits(std::uint64_t bytes) const {
  return end_ + bytes + kReserveBytes <= options_.segment_bytes;
}

std::size_t Writer::to_block_end(std::uint64_t place) const {
  const std::size_t in = place % options_.block_bytes;
  return in == 0 ? 0 : options_.block_bytes - in;
}

/// The size of a mark that begins at `place` and ends at the end of a block; 0 if a block ends at
/// `place`.
std::size_t Writer::mark_to_fill(std::uint64_t place) const {
  const std::size_t rest = to_block_end(place);
  return rest == 0 || rest >= kFrameBytes ? rest : rest + options_.block_bytes;
}

port::DiskResult<void> Writer::close() {
  Done done;
  if (open_) done = end_segment();
  open_ = false;
  return done;
}

Writer::Done Writer::sync() { return disk_.sync(file_); }

/// Writes the end frame and syncs. On return, the whole content of the segment is durable.
Writer::Done Writer::end_segment() {
  Done done = write_frame(FrameKind::end, kFrameBytes);
  if (done) done = sync();
  if (done) durable_ = written_;
  return done;
}

Writer::Done Writer::next_segment() {
  if (open_) {
    Done ended = end_segment();
    if (!ended) return ended;
  }
  const SegmentHeader header{.owner = options_.owner,
                             .file_bytes = static_cast<std::uint32_t>(options_.segment_bytes),
                             .epoch = options_.epoch,
                             .serial = segments_.back().serial + 1,
                             .first = written_.next(),
                             .oldest = oldest_,
                             .salt = options_.salt,
                             .log = options_.log};
  file_ = segment_name(header.serial);
  const auto seed = make_segment(disk_, header, options_, spare_);
  if (!seed) return unexpected(seed.error());
  spare_.clear();
  segments_.push_back({header.serial, header.first, options_.segment_bytes});
  open_ = true;
  seed_ = *seed;
  end_ = kHeaderBytes;
  return {};
}

/// Removes segments only after a durable frame states that they are not needed. So recovery knows
/// whether an absent segment is missing. Keeps one file for the next segment: its bytes already
/// have their places on the disk, so a sync costs less than with a new file.
Writer::Done Writer::remove_unneeded(LogPosition keep_from) {
  std::size_t count = 0;
  while (count + 1 < segments_.size() && segments_[count + 1].first <= keep_from) ++count;
  if (count == 0) return {};
  oldest_ = segments_[count].serial;
  Done done = write_frame(FrameKind::mark, kFrameBytes);
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
