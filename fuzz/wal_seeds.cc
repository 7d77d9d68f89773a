// SPDX-License-Identifier: Apache-2.0
// wal_seeds FOLDER: writes the seeds of fuzz_wal: unchanged segments, frames in and out of order,
// and changes in each part of a log.
#include <string>
#include <vector>

#include "damage.h"
#include "seeds.h"

namespace {

using Bytes = std::vector<std::byte>;

Bytes input(unsigned way, const std::vector<unsigned>& rest) {
  Bytes bytes = {static_cast<std::byte>(way)};
  for (const unsigned value : rest) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

}  // namespace

int main(int count, char** arguments) {
  namespace test = peal::wal::test;
  return peal::fuzz::seeds_main("wal_seeds", count, arguments, [](peal::fuzz::Folder folder) {
    // Bytes of a frame: kind, length, position, durable, oldest, gap before, checksum, content.
    const std::vector<unsigned> record = {0, 9, 1, 0, 1, 0, 0, 'a'};
    const std::vector<unsigned> mark = {1, 0, 1, 1, 1, 0, 0, 0};
    const std::vector<unsigned> filler = {1, 24, 1, 1, 1, 0, 0, 0};
    const std::vector<unsigned> end = {2, 0, 1, 1, 1, 0, 0, 0};
    const std::vector<unsigned> torn = {0, 9, 2, 1, 1, 0, 3, 'b'};
    const std::vector<unsigned> late = {0, 9, 3, 2, 1, 0, 0, 'c'};
    const auto join = [](std::initializer_list<std::vector<unsigned>> parts) {
      std::vector<unsigned> all;
      for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
      return all;
    };
    bool good = folder.write("frames-ended", input(1, join({record, mark, end}))) &&
                folder.write("frames-open", input(1, join({record, mark}))) &&
                folder.write("frames-filled", input(1, join({filler, record, filler, mark}))) &&
                folder.write("frames-torn", input(1, join({record, mark, torn}))) &&
                folder.write("frames-damaged", input(1, join({record, mark, torn, late}))) &&
                folder.write("frames-behind-the-end", input(1, join({end, record}))) &&
                folder.write("frames-exchanged", input(1, join({late, record})));
    for (const unsigned at : {0U, 2U, 3U, 4U, 8U, 10U, 12U, 18U, 20U, 28U, 250U}) {
      for (const unsigned ending : {0U, 1U}) {
        good = good &&
               folder.write("changed-" + std::to_string(ending) + "-" + std::to_string(at),
                            input(2, {ending, at % 3, at, 0, 1, 0, 0x80, 0})) &&
               folder.write("cut-" + std::to_string(ending) + "-" + std::to_string(at),
                            input(2, {ending + 2, 3 - at % 2, at, at % 4, 0, 0, 0, 0}));
      }
    }
    for (const bool blocks : {false, true}) {
      peal::sim::Disk disk(1);
      test::make_log(disk, test::Ending::killed, blocks ? 0 : peal::wal::Options{}.blocks_from);
      for (const std::string& name : disk.names()) {
        Bytes whole = disk.bytes_of(name);
        whole.insert(whole.begin(), std::byte{0});
        const std::string kind = blocks ? "blocks-" : "segment-";
        good = good && folder.write(kind + name.substr(15, 1), whole);
      }
    }
    return good;
  });
}
