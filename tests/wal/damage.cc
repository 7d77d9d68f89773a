// SPDX-License-Identifier: Apache-2.0
#include "damage.h"

#include <gtest/gtest.h>

namespace peal::wal::test {
namespace {

/// Empty, or what is wrong with what became of the damage.
std::string judge(sim::Disk& disk, const std::string& name, std::uint64_t at) {
  const auto opened = Log::open(disk, small_options(2), Start::existing);
  if (!opened) {
    const Problem& problem = opened.error();
    if (problem.file != name) return "refused with another file: " + problem.message;
    if (problem.message.find("disk/" + name) == std::string::npos) return "no file is named";
    if (problem.kind == Problem::Kind::damaged && problem.offset > at) {
      return "refused with a place behind it: " + problem.message;
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

}  // namespace

std::string sample(std::uint64_t position) {
  std::string text = "record " + std::to_string(position) + " ";
  text.resize(20 + position * 11, '.');
  return text;
}

void make_log(sim::Disk& disk, Ending ending) {
  auto log = Log::open(disk, small_options(1), Start::create);
  ASSERT_TRUE(log);
  for (std::uint64_t i = 1; i <= kSamples; ++i) {
    ASSERT_TRUE((*log)->append(as_bytes_view(sample(i))));
    if (i % 3 == 2) {
      ASSERT_TRUE((*log)->commit());
    }
  }
  ASSERT_TRUE((*log)->commit());
  if (ending == Ending::closed) {
    ASSERT_TRUE((*log)->close());
  }
}

std::string flip_every_byte() {
  for (const Ending ending : {Ending::closed, Ending::killed}) {
    sim::Disk whole(1);
    make_log(whole, ending);
    for (const std::string& name : whole.names()) {
      for (std::uint64_t at = 0; at < whole.bytes_of(name).size(); ++at) {
        for (const std::byte bits : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
          sim::Disk disk = whole;
          disk.flip(name, at, bits);
          const std::string wrong = judge(disk, name, at);
          if (!wrong.empty()) return name + ":" + std::to_string(at) + ": " + wrong;
        }
      }
    }
  }
  return {};
}

}  // namespace peal::wal::test
