// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/fabric/pages.h"
#include "port/memory.h"

namespace peal::io::fabric {

/// The regions that this process exposes. Each exposure has memory of its own, which begins with a
/// guard word. Writers with shm map that memory; writes that come by tcp are applied here.
///
/// Thread: the loop's. Other processes store to the memory at any time.
class Regions {
 public:
  /// The guard word has a cache line of its own, since it is read after each write.
  static constexpr std::size_t kHeaderBytes = 64;
  static constexpr std::size_t kCountMax = 4'096;

  explicit Regions(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// As port::Memory. problem() says why a region was not exposed.
  Result<void, Errc> expose(const port::Region& region, port::Epoch epoch, std::size_t bytes);
  void revoke(const port::Region& region);
  void drop(const port::Region& region);
  bool load(const port::Region& region, std::uint64_t offset, ByteSpan to) const;

  /// A write that came as a message. False: denied, nothing was written.
  bool apply(const port::Region& region, port::Epoch epoch, std::uint64_t offset, ByteView bytes);

  struct Exposure {
    port::Region region;
    port::Epoch epoch{};
    std::size_t bytes{};
    int fd = -1;      ///< memory of kHeaderBytes + bytes
    ByteSpan memory;  ///< the region in it, as this process has mapped it
  };
  /// True if the writer may write to the region under this epoch.
  bool is_exposed(const port::Region& region, port::Epoch epoch) const;
  /// The region's exposure, which may be revoked. False if there is none.
  bool find(const port::Region& region, Exposure& out) const;
  /// Appends the exposures of one writer that are not revoked.
  void list(const MemberId& writer, std::vector<Exposure>& out) const;

  std::size_t bytes() const { return bytes_; }
  const std::string& problem() const { return problem_; }

 private:
  struct Entry {
    Exposure exposure;
    bool exposed = false;
    SharedPages shared;
    /// The bytes of a revoked region: its writer may still store to the shared memory.
    std::unique_ptr<std::byte[]> kept;
  };

  const Entry* entry_of(const port::Region& region) const;
  Entry* entry_of(const port::Region& region) {
    return const_cast<Entry*>(static_cast<const Regions*>(this)->entry_of(region));
  }
  void close(Entry& entry);

  std::size_t bytes_max_;
  std::vector<std::unique_ptr<Entry>> entries_;  ///< sorted by region
  std::size_t bytes_ = 0;
  std::string problem_;
};

}  // namespace peal::io::fabric
