// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/error.h"
#include "io/fd.h"
#include "port/disk.h"

namespace peal::io {

/// Reads and writes the files of one folder, through the operating system. The object holds a lock
/// on the folder, so that no second FolderDisk can open the folder. Files have mode 0600. Thread:
/// one at a time; calls block.
class FolderDisk : public port::Disk {
 public:
  /// Opens the folder; creates it with mode 0700 if its parent folder exists. Errors:
  /// address_in_use (another process holds the lock), not_permitted, invalid_option (the path is
  /// not a folder, or other users may write to it), system.
  static Result<std::unique_ptr<FolderDisk>, IoError> open(const std::string& path);

  std::string path_of(const std::string& name) const override;
  port::DiskResult<std::vector<port::DiskFile>> list() override;
  port::DiskResult<port::DiskRead> read(const std::string& name, std::uint64_t at,
                                        ByteSpan to) override;
  port::DiskResult<void> create(const std::string& name, std::uint64_t bytes) override;
  port::DiskResult<void> write(const std::string& name, std::uint64_t at, ByteView bytes) override;
  port::DiskResult<void> sync(const std::string& name) override;
  port::DiskResult<void> rename(const std::string& from, const std::string& to) override;
  port::DiskResult<void> remove(const std::string& name) override;
  port::DiskResult<void> sync_folder() override;

 private:
  FolderDisk(std::string path, Fd folder) : path_(std::move(path)), folder_(std::move(folder)) {}

  /// The error for the current value of errno.
  Unexpected<port::DiskError> failed(const char* what, const std::string& name) const;
  port::DiskResult<int> writable(const std::string& name);
  void set_open(const std::string& name, Fd fd);
  bool open_around_cache();

  std::string path_;
  Fd folder_;
  // The file of the last write stays open, so that the kernel can report a later write-back error
  // to its descriptor.
  std::string open_name_;
  Fd open_;
  Fd around_cache_;             // the file of open_, opened again with O_DIRECT when first needed
  bool length_is_new_ = false;  // the file was created and not synced since
  bool has_way_around_ = true;
};

}  // namespace peal::io
