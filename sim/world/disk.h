// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "port/disk.h"

namespace peal::sim {

/// A disk that remembers what was synced and what was not, and forgets as disks do. A copy of it is
/// the same disk at that moment: whatever is done to the one, the other does not know.
class Disk : public port::Disk {
 public:
  /// What an operation, counted from 1, does instead of what it should.
  enum class Failure : std::uint8_t { none, error, full };
  /// What is gone when a machine, or only the process, stops.
  enum class Loss : std::uint8_t {
    nothing,   ///< the process was killed: what it wrote is still there, synced or not
    unsynced,  ///< power: everything that was not synced
    some,      ///< power: any part of what was not synced, in any order, writes torn at any byte
  };

  explicit Disk(std::uint64_t seed) : random_(seed) {}

  std::string path_of(const std::string& name) const override { return "disk/" + name; }
  port::DiskResult<std::vector<port::DiskFile>> list() override;
  port::DiskResult<port::DiskRead> read(const std::string& name, std::uint64_t at,
                                        ByteSpan to) override;
  port::DiskResult<void> create(const std::string& name, std::uint64_t bytes) override;
  port::DiskResult<void> write(const std::string& name, std::uint64_t at, ByteView bytes) override;
  port::DiskResult<void> sync(const std::string& name) override;
  port::DiskResult<void> rename(const std::string& from, const std::string& to) override;
  port::DiskResult<void> remove(const std::string& name) override;
  port::DiskResult<void> sync_folder() override;

  void lose(Loss loss);
  /// What a lost write leaves may be what an earlier file left there, instead of zeros.
  void expose_old_bytes() { exposes_old_ = true; }
  void reseed(std::uint64_t seed) { random_ = Random(seed); }
  /// The operation with this number from now on fails; 1 is the next. A failed write has written a
  /// part; a failed sync has synced a part and forgets the rest for good, though it can be read.
  void fail(std::uint64_t operation, Failure failure);
  /// What was to fail does not.
  void mend() { failing_ = 0; }
  /// Bytes that files have together.
  std::uint64_t used() const;
  /// So many bytes may files have together.
  void limit(std::uint64_t bytes_max) { bytes_max_ = bytes_max; }
  /// Is called within each operation that changes something, when it may have happened or not.
  /// Copies of the disk do not call it.
  void observe(std::function<void()> observer) { observer_.call = std::move(observer); }
  std::uint64_t operations() const { return operations_; }

  /// Whatever is in the way of a test: as it is now and as it is after a crash.
  void flip(const std::string& name, std::uint64_t at, std::byte bits);
  void put(const std::string& name, std::vector<std::byte> bytes);
  const std::vector<std::byte>& bytes_of(const std::string& name) const;
  std::vector<std::string> names() const;
  void erase(const std::string& name);

 private:
  struct Write {
    std::uint64_t at{};
    std::vector<std::byte> bytes;
  };
  struct File {
    std::vector<std::byte> live;     // what is read
    std::vector<std::byte> durable;  // what was synced
    std::vector<Write> unsynced;
    bool sized = false;  // its length is durable
  };
  using FileId = std::uint64_t;
  struct NameChange {
    std::string name;
    FileId file{};       // 0: the name is gone
    std::string source;  // of a rename: gone at the same time
  };
  using Names = std::map<std::string, FileId>;
  /// Not copied with the disk.
  struct Observer {
    Observer() = default;
    Observer(const Observer&) {}
    Observer& operator=(const Observer&) { return *this; }
    std::function<void()> call;
  };

  Failure begin();
  port::DiskResult<void> refuse(const std::string& what, const std::string& name, Failure failure);
  File* find(const std::string& name);
  void keep_some(File& file, const Write& write);
  void forget(File& file, const Write& write, std::uint64_t from, std::uint64_t to);
  void lose_of(File& file, Loss loss);
  void lose_names(Loss loss);
  static void apply(Names& names, const NameChange& change);

  Random random_;
  std::map<FileId, File> files_;
  Names names_;
  Names durable_names_;
  std::vector<NameChange> unsynced_names_;
  FileId next_ = 1;
  std::vector<std::byte> old_;  // what the last removed file held
  bool exposes_old_ = false;
  std::uint64_t bytes_max_ = UINT64_MAX;
  std::uint64_t operations_ = 0;
  std::uint64_t failing_ = 0;  // the operation that fails; 0: none
  Failure failure_ = Failure::none;
  Observer observer_;
};

}  // namespace peal::sim
