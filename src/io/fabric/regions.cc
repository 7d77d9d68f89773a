// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/regions.h"

#include <algorithm>

#include "base/assert.h"
#include "io/fabric/atomic_copy.h"

namespace peal::io::fabric {
namespace {

bool is_inside(std::uint64_t offset, std::size_t count, std::size_t bytes) {
  return offset <= bytes && count <= bytes - offset;
}

}  // namespace

Result<void, Errc> Regions::expose(const port::Region& region, port::Epoch epoch,
                                   std::size_t bytes) {
  PEAL_ASSERT(bytes > 0);
  drop(region);
  problem_.clear();
  if (bytes > bytes_max_ - bytes_ || entries_.size() >= kCountMax) {
    problem_ = "exposed memory: " + std::to_string(bytes) + " bytes more than the " +
               std::to_string(bytes_) + " in " + std::to_string(entries_.size()) +
               " regions: accepted are " + std::to_string(bytes_max_) + " bytes in " +
               std::to_string(kCountMax) + " regions: lower `slots` or the size of messages";
    return unexpected(Errc::too_large);
  }
  auto made = make_shared_pages(kHeaderBytes + bytes);
  if (!made) {
    problem_ = made.error().message;
    return unexpected(Errc::too_large);
  }
  auto entry = std::make_unique<Entry>();
  entry->exposure = {region, epoch, bytes, made->fd.get(),
                     made->pages.span().subspan(kHeaderBytes)};
  entry->exposed = true;
  entry->shared = std::move(*made);
  // Not initialised, and so without pages: a revocation must not find that no memory is left.
  entry->kept.reset(new std::byte[bytes]);
  shared_word(entry->shared.pages.span().data()).store(epoch.value, std::memory_order_seq_cst);
  const auto place = std::lower_bound(
      entries_.begin(), entries_.end(), region,
      [](const auto& each, const port::Region& key) { return each->exposure.region < key; });
  entries_.insert(place, std::move(entry));
  bytes_ += bytes;
  return {};
}

void Regions::revoke(const port::Region& region) {
  Entry* entry = entry_of(region);
  if (entry == nullptr || !entry->exposed) return;
  close(*entry);
  copy_from_shared(entry->shared.pages.view().data() + kHeaderBytes,
                   {entry->kept.get(), entry->exposure.bytes});
}

/// After this call, a writer whose write is not in the memory finds that the guard has changed.
void Regions::close(Entry& entry) {
  entry.exposed = false;
  shared_word(entry.shared.pages.span().data())
      .store(~entry.exposure.epoch.value, std::memory_order_seq_cst);
  full_fence();
}

void Regions::drop(const port::Region& region) {
  Entry* entry = entry_of(region);
  if (entry == nullptr) return;
  if (entry->exposed) close(*entry);
  bytes_ -= entry->exposure.bytes;
  std::erase_if(entries_, [entry](const auto& each) { return each.get() == entry; });
}

bool Regions::load(const port::Region& region, std::uint64_t offset, ByteSpan to) const {
  const Entry* entry = entry_of(region);
  if (entry == nullptr || !is_inside(offset, to.size(), entry->exposure.bytes)) return false;
  if (entry->exposed) {
    copy_from_shared(entry->shared.pages.view().data() + kHeaderBytes + offset, to);
  } else {
    std::copy_n(entry->kept.get() + offset, to.size(), to.begin());
  }
  return true;
}

bool Regions::apply(const port::Region& region, port::Epoch epoch, std::uint64_t offset,
                    ByteView bytes) {
  const Entry* entry = entry_of(region);
  if (entry == nullptr || !entry->exposed || entry->exposure.epoch != epoch) return false;
  if (!is_inside(offset, bytes.size(), entry->exposure.bytes)) return false;
  copy_to_shared(entry->shared.pages.span().data() + kHeaderBytes + offset, bytes);
  return true;
}

bool Regions::is_exposed(const port::Region& region, port::Epoch epoch) const {
  const Entry* entry = entry_of(region);
  return entry != nullptr && entry->exposed && entry->exposure.epoch == epoch;
}

bool Regions::find(const port::Region& region, Exposure& out) const {
  const Entry* entry = entry_of(region);
  if (entry != nullptr) out = entry->exposure;
  return entry != nullptr;
}

void Regions::list(const MemberId& writer, std::vector<Exposure>& out) const {
  for (const auto& entry : entries_) {
    if (entry->exposed && entry->exposure.region.writer == writer) out.push_back(entry->exposure);
  }
}

const Regions::Entry* Regions::entry_of(const port::Region& region) const {
  const auto place = std::lower_bound(
      entries_.begin(), entries_.end(), region,
      [](const auto& each, const port::Region& key) { return each->exposure.region < key; });
  const bool found = place != entries_.end() && (*place)->exposure.region == region;
  return found ? place->get() : nullptr;
}

}  // namespace peal::io::fabric
