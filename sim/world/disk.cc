// SPDX-License-Identifier: Apache-2.0
#include "sim/world/disk.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace peal::sim {
namespace {

/// Unsynced bytes reach a disk in pieces of this size, in any order.
constexpr std::uint64_t kPieceBytes = 64;

void overlay(std::vector<std::byte>& content, std::uint64_t at, ByteView bytes) {
  if (content.size() < at + bytes.size()) content.resize(at + bytes.size());
  std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

Disk::Failure Disk::begin() {
  ++operations_;
  if (observer_.call) observer_.call();
  if (failing_ == 0 || --failing_ != 0) return Failure::none;
  return failure_;
}

void Disk::fail(std::uint64_t operation, Failure failure) {
  PEAL_ASSERT(operation > 0);
  failing_ = operation;
  failure_ = failure;
}

port::DiskResult<void> Disk::refuse(const std::string& what, const std::string& name,
                                    Failure failure) {
  const bool full = failure == Failure::full;
  return unexpected(port::DiskError{
      full ? port::DiskError::Kind::full : port::DiskError::Kind::other,
      what + " " + path_of(name) + (full ? ": no space left" : ": input/output error")});
}

Disk::File* Disk::find(const std::string& name) {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &files_.at(found->second);
}

std::uint64_t Disk::used() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, id] : names_) bytes += files_.at(id).live.size();
  return bytes;
}

port::DiskResult<std::vector<port::DiskFile>> Disk::list() {
  if (const Failure failure = begin(); failure != Failure::none) {
    return unexpected(refuse("list", "", failure).error());
  }
  std::vector<port::DiskFile> files;
  for (const auto& [name, id] : names_) files.push_back({name, files_.at(id).live.size()});
  return files;
}

port::DiskResult<port::DiskRead> Disk::read(const std::string& name, std::uint64_t at,
                                            ByteSpan to) {
  const Failure failure = begin();
  const File* file = find(name);
  if (failure != Failure::none || file == nullptr) {
    return unexpected(refuse("read", name, Failure::error).error());
  }
  const ByteView whole = file->live;
  const ByteView rest = whole.subspan(std::min<std::uint64_t>(at, whole.size()));
  const ByteView part = rest.first(std::min(rest.size(), to.size()));
  std::copy(part.begin(), part.end(), to.begin());
  return port::DiskRead{part.size(), whole.size()};
}

port::DiskResult<void> Disk::create(const std::string& name, std::uint64_t bytes) {
  Failure failure = begin();
  if (find(name) != nullptr) return refuse("create", name, Failure::error);
  if (failure == Failure::none && used() + bytes > bytes_max_) failure = Failure::full;
  // A failed creation may still leave an empty file.
  if (failure != Failure::none && random_.chance(0.5)) return refuse("create", name, failure);
  const FileId id = next_++;
  files_[id].live.resize(failure == Failure::none ? bytes : 0);
  unsynced_names_.push_back({name, id, {}});
  names_[name] = id;
  return failure == Failure::none ? port::DiskResult<void>{} : refuse("create", name, failure);
}

port::DiskResult<void> Disk::write(const std::string& name, std::uint64_t at, ByteView bytes) {
  Failure failure = begin();
  File* file = find(name);
  if (file == nullptr) return refuse("write", name, Failure::error);
  if (failure != Failure::none) {
    bytes = bytes.first(static_cast<std::size_t>(random_.below(bytes.size() + 1)));
  }
  overlay(file->live, at, bytes);
  file->unsynced.push_back({at, {bytes.begin(), bytes.end()}});
  if (observer_.call) observer_.call();
  return failure == Failure::none ? port::DiskResult<void>{} : refuse("write", name, failure);
}

port::DiskResult<void> Disk::sync(const std::string& name) {
  const Failure failure = begin();
  File* file = find(name);
  if (file == nullptr) return refuse("sync", name, Failure::error);
  if (!file->sized) file->durable.resize(file->live.size());
  for (const Write& write : file->unsynced) {
    if (failure == Failure::none) {
      overlay(file->durable, write.at, write.bytes);
    } else {
      keep_some(*file, write);
    }
  }
  file->sized = true;
  file->unsynced.clear();
  return failure == Failure::none ? port::DiskResult<void>{} : refuse("sync", name, failure);
}

void Disk::apply(Names& names, const NameChange& change) {
  if (!change.source.empty()) names.erase(change.source);
  if (change.file == 0) {
    names.erase(change.name);
  } else {
    names[change.name] = change.file;
  }
}

port::DiskResult<void> Disk::rename(const std::string& from, const std::string& to) {
  const Failure failure = begin();
  const auto found = names_.find(from);
  if (failure != Failure::none || found == names_.end()) {
    return refuse("rename", from, failure == Failure::none ? Failure::error : failure);
  }
  if (const File* replaced = find(to)) old_ = replaced->live;
  const NameChange change{to, found->second, from};
  unsynced_names_.push_back(change);
  apply(names_, change);
  if (observer_.call) observer_.call();
  return {};
}

port::DiskResult<void> Disk::remove(const std::string& name) {
  const Failure failure = begin();
  const File* file = find(name);
  if (failure != Failure::none || file == nullptr) {
    return refuse("remove", name, failure == Failure::none ? Failure::error : failure);
  }
  old_ = file->live;
  unsynced_names_.push_back({name, 0, {}});
  names_.erase(name);
  if (observer_.call) observer_.call();
  return {};
}

port::DiskResult<void> Disk::sync_folder() {
  const Failure failure = begin();
  if (failure != Failure::none) return refuse("sync", "", failure);
  durable_names_ = names_;
  unsynced_names_.clear();
  for (auto at = files_.begin(); at != files_.end();) {
    const bool named = std::any_of(names_.begin(), names_.end(),
                                   [&](const auto& entry) { return entry.second == at->first; });
    at = named ? std::next(at) : files_.erase(at);
  }
  return {};
}

/// Handles the bytes `from` to `to` of a write that did not reach the disk: old bytes may appear in
/// place of zeros.
void Disk::forget(File& file, const Write& write, std::uint64_t from, std::uint64_t to) {
  if (!exposes_old_ || !random_.chance(0.5)) return;
  for (std::uint64_t i = from; i < to; ++i) {
    const std::uint64_t at = write.at + i;
    if (at < old_.size() && at < file.durable.size() && file.durable[at] == std::byte{0}) {
      file.durable[at] = old_[at];
    }
  }
}

void Disk::keep_some(File& file, const Write& write) {
  const std::uint64_t bytes = write.bytes.size();
  const auto keep = [&](std::uint64_t from, std::uint64_t to) {
    overlay(file.durable, write.at + from, ByteView(write.bytes).subspan(from, to - from));
  };
  switch (random_.below(4)) {
    case 0: keep(0, bytes); return;
    case 1: forget(file, write, 0, bytes); return;
    case 2: {
      const std::uint64_t cut = random_.below(bytes + 1);
      keep(0, cut);
      forget(file, write, cut, bytes);
      return;
    }
    default:
      for (std::uint64_t at = 0; at < bytes; at += kPieceBytes) {
        const std::uint64_t end = std::min(at + kPieceBytes, bytes);
        if (random_.chance(0.5)) {
          keep(at, end);
        } else {
          forget(file, write, at, end);
        }
      }
  }
}

void Disk::lose_of(File& file, Loss loss) {
  if (loss == Loss::some) {
    if (!file.sized) file.durable.resize(random_.below(file.live.size() + 1));
    for (const Write& write : file.unsynced) keep_some(file, write);
  }
  file.live = file.durable;
  file.sized = true;
  file.unsynced.clear();
}

void Disk::lose_names(Loss loss) {
  // With Loss::some, keep a random prefix or a random subset of the changes. Otherwise keep none.
  const bool in_order = random_.chance(0.5);
  const std::uint64_t count = random_.below(unsynced_names_.size() + 1);
  for (std::size_t i = 0; i < unsynced_names_.size() && loss == Loss::some; ++i) {
    if (in_order ? i < count : random_.chance(0.5)) apply(durable_names_, unsynced_names_[i]);
  }
  names_ = durable_names_;
  unsynced_names_.clear();
}

void Disk::lose(Loss loss) {
  if (loss == Loss::nothing) return;
  for (auto& [id, file] : files_) lose_of(file, loss);
  lose_names(loss);
}

void Disk::flip(const std::string& name, std::uint64_t at, std::byte bits) {
  File* file = find(name);
  PEAL_ASSERT(file != nullptr && at < file->live.size());
  file->live[at] ^= bits;
  file->durable = file->live;
  file->unsynced.clear();
}

void Disk::put(const std::string& name, std::vector<std::byte> bytes) {
  File file;
  file.durable = bytes;
  file.live = std::move(bytes);
  file.sized = true;
  const FileId id = next_++;
  files_[id] = std::move(file);
  names_[name] = id;
  durable_names_[name] = id;
}

void Disk::erase(const std::string& name) {
  names_.erase(name);
  durable_names_.erase(name);
}

const std::vector<std::byte>& Disk::bytes_of(const std::string& name) const {
  return files_.at(names_.at(name)).live;
}

std::vector<std::string> Disk::names() const {
  std::vector<std::string> names;
  for (const auto& [name, id] : names_) names.push_back(name);
  return names;
}

}  // namespace peal::sim
