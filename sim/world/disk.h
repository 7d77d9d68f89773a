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

/// A disk that tracks which writes were synced, and loses unsynced writes as real disks do. A copy
/// of the object has the same content at first. Later changes to the object or the copy do not
/// affect the other.
class Disk : public port::Disk {
 public:
  /// How an operation fails.
  enum class Failure : std::uint8_t { none, error, full };
  /// What a disk loses when the process or the machine stops.
  enum class Loss : std::uint8_t {
    nothing,   ///< the process was killed: the disk keeps all writes, synced or not
    unsynced,  ///< power failure: the disk loses everything that was not synced
    some,      ///< power failure: the disk loses random parts of unsynced writes
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
  /// From now on, a lost write may leave bytes of a removed or replaced file in its place, not only
  /// zeros.
  void expose_old_bytes() { exposes_old_ = true; }
  void reseed(std::uint64_t seed) { random_ = Random(seed); }
  /// Makes one operation fail; `operation` 1 is the next operation. A failed write writes a part of
  /// its bytes. A failed sync makes a part of the unsynced bytes durable. The other bytes never
  /// become durable, although the process can read them.
  void fail(std::uint64_t operation, Failure failure);
  /// Cancels a planned failure.
  void mend() { failing_ = 0; }
  /// Bytes of all files together.
  std::uint64_t used() const;
  /// Limits the bytes of all files together.
  void limit(std::uint64_t bytes_max) { bytes_max_ = bytes_max; }
  /// Sets a function that the disk calls at the start of each operation, and after write(),
  /// rename() and remove() have changed something. Copies of the disk do not call the function.
  void observe(std::function<void()> observer) { observer_.call = std::move(observer); }
  std::uint64_t operations() const { return operations_; }

  /// For tests: flip() and put() change live and durable bytes alike.
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
    std::vector<std::byte> live;     // content that the process reads
    std::vector<std::byte> durable;  // content that survives a crash
    std::vector<Write> unsynced;
    bool sized = false;  // the file's length is durable
  };
  using FileId = std::uint64_t;
  struct NameChange {
    std::string name;
    FileId file{};       // 0: the change removes the name
    std::string source;  // for a rename: old name, removed at the same time
  };
  using Names = std::map<std::string, FileId>;
  /// A copy of the disk has no observer.
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
  std::vector<std::byte> old_;  // content of the last file removed or replaced
  bool exposes_old_ = false;
  std::uint64_t bytes_max_ = UINT64_MAX;
  std::uint64_t operations_ = 0;
  std::uint64_t failing_ = 0;  // counts down to the operation that fails; 0: none fails
  Failure failure_ = Failure::none;
  Observer observer_;
};

}  // namespace peal::sim
