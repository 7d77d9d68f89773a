// SPDX-License-Identifier: Apache-2.0
#include "damage.h"

#include "base/assert.h"

namespace peal::wal::test {
std::string sample(std::uint64_t position) {
  std::string text = "record " + std::to_string(position) + " ";
  text.resize(20 + position * 11, '.');
  return text;
}

void make_log(sim::Disk& disk, Ending ending, std::size_t blocks_from) {
  Options options = small_options(1);
  options.blocks_from = blocks_from;
  auto log = Log::open(disk, options, Start::create);
  PEAL_ASSERT(log);
  for (std::uint64_t i = 1; i <= kSamples; ++i) {
    const bool appended = (*log)->append(as_bytes_view(sample(i))).has_value();
    const bool good = appended && (i % 3 != 2 || (*log)->commit());
    PEAL_ASSERT(good);
  }
  const bool ended = (*log)->commit() && (ending == Ending::killed || (*log)->close());
  PEAL_ASSERT(ended);
}

std::string judge_damage(sim::Disk& disk, const std::string& name, std::uint64_t at) {
  const auto opened = Log::open(disk, small_options(2), Start::existing);
  if (!opened) {
    const Problem& problem = opened.error();
    if (problem.file != name) return "refused with another file: " + problem.message;
    if (problem.message.find("disk/" + name) == std::string::npos) return "no file is named";
    if (problem.kind == Problem::Kind::damaged && problem.offset > at) {
      return "refused with a place behind it: " + problem.message;
    }
    if (problem.kind == Problem::Kind::damaged &&
        (problem.message.find("offset ") == std::string::npos ||
         problem.message.find("keep a copy of the folder") == std::string::npos)) {
      return "no place is named, or not what to do: " + problem.message;
    }
    return {};
  }
  Kept kept;
  if (!(*opened)->replay(kept)) return "opened, and not replayed";
  if (kept.records.size() != kSamples) {
    return "opened with " + std::to_string(kept.records.size()) + " records";
  }
  for (const Kept::Record& record : kept.records) {
    if (record.bytes != sample(record.position.value)) return "opened with a changed record";
  }
  return {};
}

std::string flip_every_byte_of(const sim::Disk& whole) {
  for (const std::string& name : whole.names()) {
    for (std::uint64_t at = 0; at < whole.bytes_of(name).size(); ++at) {
      for (const std::byte bits : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
        sim::Disk disk = whole;
        disk.flip(name, at, bits);
        const std::string wrong = judge_damage(disk, name, at);
        if (!wrong.empty()) return name + ":" + std::to_string(at) + ": " + wrong;
      }
    }
  }
  return {};
}

std::string cut_at_every_byte_of(const sim::Disk& whole) {
  for (const std::string& name : whole.names()) {
    const std::vector<std::byte>& bytes = whole.bytes_of(name);
    for (std::uint64_t length = 0; length < bytes.size(); ++length) {
      sim::Disk disk = whole;
      disk.put(name, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)});
      const std::string wrong = judge_damage(disk, name, length);
      if (!wrong.empty()) return name + " cut at " + std::to_string(length) + ": " + wrong;
    }
  }
  return {};
}

/// The result of `judge` for small logs that differ in all relevant properties.
std::string of_small_logs(std::string (*judge)(const sim::Disk& whole)) {
  for (const Ending ending : {Ending::closed, Ending::killed}) {
    for (const std::size_t blocks_from : {Options{}.blocks_from, std::size_t{0}}) {
      for (const bool opened : {false, true}) {
        sim::Disk whole(1);
        make_log(whole, ending, blocks_from);
        // A start replaces the newest segment with a file that is only as long as the content.
        if (opened && !Log::open(whole, small_options(1), Start::existing)) return "not opened";
        if (std::string wrong = judge(whole); !wrong.empty()) return wrong;
      }
    }
  }
  return {};
}

std::string flip_every_byte() { return of_small_logs(flip_every_byte_of); }

std::string cut_at_every_byte() { return of_small_logs(cut_at_every_byte_of); }

std::string judge_any(sim::Disk& disk) {
  std::vector<Kept::Record> before;
  for (std::uint64_t epoch = 2; epoch <= 3; ++epoch) {
    const auto opened = Log::open(disk, small_options(epoch), Start::existing);
    if (!opened && opened.error().message.empty()) return "refused without a word";
    if (!opened) return epoch == 2 ? "" : "refused at the second start: " + opened.error().message;
    Log& log = **opened;
    Kept kept;
    if (!log.replay(kept)) return "opened, and not replayed";
    LogPosition next = log.found().first;
    for (const Kept::Record& record : kept.records) {
      if (record.position != next) return "a record has another position";
      next = next.next();
    }
    if (next != log.last().next() || log.durable() != log.last()) return "it ends elsewhere";
    if (epoch == 3) return kept.records == before ? "" : "the second start finds something else";
    const auto position = log.append(as_bytes_view("more"));
    // A log that is already full is not an error.
    if (!position && position.error() != Errc::would_block) return "nothing can be appended";
    if (!log.commit()) return "nothing can be committed";
    before = std::move(kept.records);
    if (position) before.push_back({*position, "more"});
    disk.lose(sim::Disk::Loss::unsynced);
  }
  return {};
}

}  // namespace peal::wal::test
