// SPDX-License-Identifier: Apache-2.0
#include "wal/recovery.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/hooks.h"
#include "base/text.h"

namespace peal::wal {
namespace {

/// Limit of positions and serials: no log reaches it, and larger numbers could overflow.
constexpr std::uint64_t kNumberMax = 1ULL << 62;

using Kind = Problem::Kind;

Problem disk_problem(const std::string& file, const port::DiskError& error) {
  const bool full = error.kind == port::DiskError::Kind::full;
  return {Kind::disk, file, 0,
          error.message + (full ? ": free space and start again" : ": see to the disk")};
}

/// Reads and judges the files of one folder.
class Recovery {
 public:
  Recovery(port::Disk& disk, const Options& options) : disk_(disk), options_(options) {}

  Result<Recovered, Problem> run();
  Result<Recovered, Problem> run_new();

 private:
  struct Read {
    std::uint64_t bytes{};
    DecodedHeader header;
    Scan scan;
  };
  using Done = Result<void, Problem>;

  Problem problem(Kind kind, const std::string& name, std::uint64_t offset,
                  const std::string& text) const {
    return {kind, name, offset, disk_.path_of(name) + text};
  }
  Done list();
  Result<Read, Problem> read(std::uint64_t serial);
  Done check_owner(const std::string& name, const DecodedHeader& header, std::uint64_t serial);
  Problem header_problem(const std::string& name, ByteView header, HeaderFault fault) const;
  Problem damage(const std::string& name, const Scan& scan) const;
  Problem cut(const std::string& name, const Read& read) const;
  Done check_kept(const Read& newest);
  Done remove(const std::string& name);
  Done remove_leftovers();
  Done remove_unneeded(std::uint64_t oldest);
  Done end_newest(std::uint64_t serial, const Read& newest, SegmentReader& from);
  port::DiskResult<void> copy(SegmentReader& from, std::uint64_t bytes, const std::string& to);
  Done check_copy(const std::string& name, const std::string& beside, const Read& newest);

  port::Disk& disk_;
  const Options& options_;
  std::vector<std::uint64_t> serials_;  // of the segments in the folder, ascending
  std::vector<std::string> leftovers_;  // files without a segment's name: half-made or spare
  Recovered out_;
};

Recovery::Done Recovery::list() {
  const auto files = disk_.list();
  if (!files) return unexpected(disk_problem("", files.error()));
  if (files->size() > kFilesMax) {
    return unexpected(problem(Kind::unknown_file, "", 0,
                              " has " + std::to_string(files->size()) + " files; a log has up to " +
                                  std::to_string(kFilesMax) + ": give it a folder of its own"));
  }
  for (const port::DiskFile& file : *files) {
    std::string_view name = file.name;
    bool leftover = false;
    for (const std::string_view suffix : {kNewSuffix, kSpareSuffix}) {
      if (leftover || !name.ends_with(suffix)) continue;
      name.remove_suffix(suffix.size());
      leftover = true;
    }
    const auto serial = serial_of(name);
    if (!serial) {
      return unexpected(problem(Kind::unknown_file, file.name, 0,
                                " is no file of a log: move it out of this folder"));
    }
    if (leftover) {
      leftovers_.push_back(file.name);
    } else {
      serials_.push_back(*serial);
    }
  }
  return {};
}

Problem Recovery::header_problem(const std::string& name, ByteView header,
                                 HeaderFault fault) const {
  switch (fault) {
    case HeaderFault::unknown_version:
      return problem(Kind::unknown_version, name, 8,
                     " has version " + std::to_string(version_of(header)) +
                         " or is damaged at offset 8; this release knows version " +
                         std::to_string(kVersion) + ": start the release that wrote it");
    case HeaderFault::too_short:
    case HeaderFault::no_segment:
    case HeaderFault::bad_checksum: break;
  }
  return problem(
      Kind::damaged, name, 0,
      " is damaged at offset 0: its header is not what was written" + std::string(kRestore));
}

Problem Recovery::damage(const std::string& name, const Scan& scan) const {
  std::string text = " is damaged at offset " + std::to_string(scan.damage_at);
  if (scan.proof_at != scan.damage_at) {
    text += ": what was there was durable, as offset " + std::to_string(scan.proof_at) + " says";
  }
  return problem(Kind::damaged, name, scan.damage_at, text + std::string(kRestore));
}

Problem Recovery::cut(const std::string& name, const Read& read) const {
  return problem(Kind::damaged, name, read.scan.damage_at,
                 " is damaged at offset " + std::to_string(read.scan.damage_at) +
                     ": the file has " + std::to_string(read.bytes) + " bytes of the " +
                     std::to_string(read.header.header.file_bytes) +
                     " that it had, and no end: what is gone may have been durable" +
                     std::string(kRestore));
}

Recovery::Done Recovery::check_owner(const std::string& name, const DecodedHeader& decoded,
                                     std::uint64_t serial) {
  const SegmentHeader& header = decoded.header;
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  if (header.owner != options_.owner) {
    return unexpected(problem(Kind::foreign, name, 16,
                              " is of cluster " + number(header.owner.cluster) + ", node " +
                                  number(header.owner.node.value) + "; this is cluster " +
                                  number(options_.owner.cluster) + ", node " +
                                  number(options_.owner.node.value) +
                                  ": start it with its own folder"));
  }
  if (header.epoch > options_.epoch) {
    return unexpected(problem(Kind::foreign, name, 32,
                              " was written by incarnation " + number(header.epoch) +
                                  " of this node; this is " + number(options_.epoch) +
                                  ": set the clock right, or restore the node's state"));
  }
  const bool possible = header.first.value <= kNumberMax && header.serial <= kNumberMax;
  if (!possible || header.serial != serial || header.first.value == 0 || header.log == 0 ||
      header.oldest > header.serial || header.oldest == 0) {
    return unexpected(problem(Kind::damaged, name, 40,
                              " holds segment " + number(header.serial) +
                                  ": a file was renamed or copied" + std::string(kRestore)));
  }
  return {};
}

Result<Recovery::Read, Problem> Recovery::read(std::uint64_t serial) {
  const std::string name = segment_name(serial);
  SegmentReader file(disk_, name, options_.read_bytes);
  const auto first = file.open();
  if (!first) return unexpected(disk_problem(name, first.error()));
  const auto header = decode_header(*first);
  if (!header) return unexpected(header_problem(name, *first, header.error()));
  if (Done owner = check_owner(name, *header, serial); !owner) return unexpected(owner.error());
  const auto scan = scan_segment(file, *header, [](const Frame&) {});
  if (!scan) return unexpected(disk_problem(name, scan.error()));
  if (scan->tail == Tail::damaged) return unexpected(damage(name, *scan));
  Read read{file.size(), *header, *scan};
  if (scan->tail == Tail::cut) return unexpected(cut(name, read));
  return read;
}

/// Checks that all segments from the oldest needed one to the newest are present and whole.
Recovery::Done Recovery::check_kept(const Read& newest) {
  const std::uint64_t oldest = newest.scan.oldest;
  const std::uint64_t last = serials_.back();
  const auto begin = std::lower_bound(serials_.begin(), serials_.end(), oldest);
  for (std::uint64_t serial = oldest; serial < last; ++serial) {
    const auto index = static_cast<std::ptrdiff_t>(serial - oldest);
    if (begin[index] != serial) {
      const std::string name = segment_name(serial);
      return unexpected(
          problem(Kind::missing, name, 0, " is missing: it is needed" + std::string(kRestore)));
    }
    const auto older = read(serial);
    if (!older) return unexpected(older.error());
    const std::string name = segment_name(serial);
    const Scan& scan = older->scan;
    if (!scan.ended) {
      // A segment begins only after the end frame of the segment before it is durable. So a segment
      // without an end frame, if it is not the newest, is damaged.
      Scan cut = scan;
      cut.damage_at = cut.proof_at = scan.end;
      return unexpected(damage(name, cut));
    }
    const SegmentHeader& header = older->header.header;
    if (header.log != out_.log) {
      return unexpected(problem(Kind::foreign, name, 72,
                                " is of another log than " + segment_name(last) +
                                    ": a file was copied here" + std::string(kRestore)));
    }
    if (!out_.segments.empty() && header.first != out_.found.last.next()) {
      return unexpected(problem(Kind::damaged, name, 48,
                                " begins at record " + std::to_string(header.first.value) +
                                    ", the one before ends at " +
                                    std::to_string(out_.found.last.value) + std::string(kRestore)));
    }
    out_.segments.push_back({serial, header.first, older->bytes});
    out_.found.last = scan.last;
  }
  const SegmentHeader& header = newest.header.header;
  if (!out_.segments.empty() && header.first != out_.found.last.next()) {
    return unexpected(problem(Kind::damaged, segment_name(last), 48,
                              " begins at record " + std::to_string(header.first.value) +
                                  ", the one before ends at " +
                                  std::to_string(out_.found.last.value) + std::string(kRestore)));
  }
  return {};
}

Recovery::Done Recovery::remove(const std::string& name) {
  const auto removed = disk_.remove(name);
  if (!removed) return unexpected(disk_problem(name, removed.error()));
  return {};
}

Recovery::Done Recovery::remove_leftovers() {
  for (const std::string& name : leftovers_) {
    if (Done done = remove(name); !done) return done;
  }
  return {};
}

/// Removes the segments before `oldest`. The newest segment states that these segments are not
/// needed. Call this function only once the newest segment is durable. Before, the bytes of the
/// newest segment may have been in memory only.
Recovery::Done Recovery::remove_unneeded(std::uint64_t oldest) {
  for (const std::uint64_t serial : serials_) {
    if (serial >= oldest) break;
    PEAL_PROBE("wal.unneeded_segment_left");
    if (Done done = remove(segment_name(serial)); !done) return done;
  }
  return {};
}

port::DiskResult<void> Recovery::copy(SegmentReader& from, std::uint64_t bytes,
                                      const std::string& to) {
  for (std::uint64_t at = 0; at < bytes;) {
    const auto part = from.at(
        at, static_cast<std::size_t>(std::min<std::uint64_t>(options_.read_bytes, bytes - at)));
    if (!part) return unexpected(part.error());
    if (auto done = disk_.write(to, at, *part); !done) return done;
    at += part->size();
  }
  return {};
}

/// The newest segment is read twice: to judge it, and to copy it. This function checks that the
/// copy equals the judged bytes.
Recovery::Done Recovery::check_copy(const std::string& name, const std::string& beside,
                                    const Read& newest) {
  SegmentReader file(disk_, beside, options_.read_bytes);
  const auto first = file.open();
  if (!first) return unexpected(disk_problem(name, first.error()));
  const auto header = decode_header(*first);
  bool same = header && header->header == newest.header.header;
  if (same) {
    const auto scan = scan_segment(file, *header, [](const Frame&) {});
    if (!scan) return unexpected(disk_problem(name, scan.error()));
    same = scan->ended && scan->tail == Tail::clean && scan->last == newest.scan.last &&
           scan->durable == newest.scan.durable && scan->oldest == newest.scan.oldest;
  }
  if (same) return {};
  return unexpected(problem(Kind::disk, name, 0,
                            " was not the same when it was read a second time: see to the disk"));
}

/// Rewrites the newest segment with its end frame, and without the write that a crash cut off. The
/// bytes that were read may be in memory only, for instance because a sync failed earlier. The new
/// file is durable in any case.
Recovery::Done Recovery::end_newest(std::uint64_t serial, const Read& newest, SegmentReader& from) {
  const std::string name = segment_name(serial);
  const Scan& scan = newest.scan;
  const LogPosition first = newest.header.header.first;
  if (PEAL_MUTANT(wm8_read_not_synced) && scan.ended) {
    out_.segments.push_back({serial, first, newest.bytes});
    return {};
  }
  const bool keeps_tail = PEAL_MUTANT(wm3_tail_not_cut) && scan.tail == Tail::torn;
  const std::uint64_t kept = keeps_tail ? newest.bytes : scan.end;
  std::array<std::byte, kFrameBytes> end{};
  seal_frame(end, Frame{FrameKind::end, scan.last, scan.durable, scan.oldest, {}}, 0,
             newest.header.seed);
  const std::uint64_t bytes = kept + (scan.ended ? 0 : end.size());
  const std::string beside = name + std::string(kNewSuffix);
  auto done = disk_.create(beside, bytes);
  if (done) done = copy(from, kept, beside);
  if (done && !scan.ended) done = disk_.write(beside, kept, end);
  if (done) done = disk_.sync(beside);
  if (done && !keeps_tail) {
    if (Done same = check_copy(name, beside, newest); !same) return same;
  }
  if (done) done = disk_.rename(beside, name);
  if (done) done = disk_.sync_folder();
  if (!done) return unexpected(disk_problem(name, done.error()));
  out_.segments.push_back({serial, first, bytes});
  return {};
}

Result<Recovered, Problem> Recovery::run() {
  if (Done listed = list(); !listed) return unexpected(listed.error());
  if (serials_.empty()) {
    return unexpected(problem(Kind::no_log, "", 0,
                              " holds no log: a node that took part already must not start "
                              "without it; only a new one has its log created"));
  }
  const std::uint64_t serial = serials_.back();
  const auto newest = read(serial);
  if (!newest) return unexpected(newest.error());
  const Scan& scan = newest->scan;
  out_.log = newest->header.header.log;
  if (Done kept = check_kept(*newest); !kept) return unexpected(kept.error());
  if (Done removed = remove_leftovers(); !removed) return unexpected(removed.error());
  if (PEAL_MUTANT(wm9_removed_at_start)) {
    if (Done removed = remove_unneeded(scan.oldest); !removed) return unexpected(removed.error());
    serials_.clear();
  }
  SegmentReader from(disk_, segment_name(serial), options_.read_bytes);
  if (auto opened = from.open(); !opened) {
    return unexpected(disk_problem(segment_name(serial), opened.error()));
  }
  if (Done ended = end_newest(serial, *newest, from); !ended) return unexpected(ended.error());
  if (Done removed = remove_unneeded(scan.oldest); !removed) return unexpected(removed.error());
  Found& found = out_.found;
  found.segments = out_.segments.size();
  found.first = out_.segments.front().first;
  found.last = scan.last;
  found.tail_cut = scan.tail == Tail::torn;
  if (found.tail_cut) {
    found.tail_file = segment_name(serial);
    found.tail_at = scan.end;
  }
  return std::move(out_);
}

Result<Recovered, Problem> Recovery::run_new() {
  if (Done listed = list(); !listed) return unexpected(listed.error());
  if (!serials_.empty()) {
    return unexpected(problem(Kind::log_exists, segment_name(serials_.front()), 0,
                              " is there already: a log is created only once"));
  }
  if (Done removed = remove_leftovers(); !removed) return unexpected(removed.error());
  const SegmentHeader header{.owner = options_.owner,
                             .file_bytes = kHeaderBytes + kFrameBytes,  // header and end frame
                             .epoch = options_.epoch,
                             .serial = 1,
                             .first = LogPosition{1},
                             .oldest = 1,
                             .salt = options_.salt,
                             .log = options_.log};
  std::vector<std::byte> bytes(kHeaderBytes);
  const std::uint32_t seed = encode(header, bytes);
  Read newest{bytes.size(), {header, seed}, {}};
  newest.scan.end = bytes.size();
  newest.scan.oldest = header.oldest;
  SegmentReader from{ByteView(bytes)};
  if (Done ended = end_newest(1, newest, from); !ended) return unexpected(ended.error());
  out_.log = header.log;
  out_.found = {1, LogPosition{1}, LogPosition{0}, false, {}, 0};
  return std::move(out_);
}

}  // namespace

Result<Recovered, Problem> recover(port::Disk& disk, const Options& options) {
  return Recovery(disk, options).run();
}

Result<Recovered, Problem> create(port::Disk& disk, const Options& options) {
  return Recovery(disk, options).run_new();
}

port::DiskResult<std::uint32_t> make_segment(port::Disk& disk, const SegmentHeader& header,
                                             const Options& options, const std::string& spare) {
  const std::string name = segment_name(header.serial);
  const std::string beside = name + std::string(kNewSuffix);
  // The header, and zeros up to the end of its block. Without the zeros, the disk would have to
  // read the block first.
  std::vector<std::byte> start(
      std::clamp<std::uint64_t>(options.block_bytes, kHeaderBytes, options.segment_bytes));
  const std::uint32_t seed = encode(header, start);
  const std::uint64_t length =
      PEAL_MUTANT(wm12_named_before_it_is_long) ? start.size() : header.file_bytes;
  auto done = spare.empty() ? disk.create(beside, length) : disk.rename(spare, beside);
  if (done) done = disk.write(beside, 0, start);
  if (done) done = disk.sync(beside);
  if (done) done = disk.rename(beside, name);
  if (done && !PEAL_MUTANT(wm4_folder_not_synced)) done = disk.sync_folder();
  if (!done) return unexpected(done.error());
  return seed;
}

}  // namespace peal::wal
