// SPDX-License-Identifier: Apache-2.0
#include "sim/world/fabric.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::sim {

using port::WriteEnd;

// ---- the owner's side ----

Result<void, Errc> SimMemory::expose(const port::Region& region, port::Epoch epoch,
                                     std::size_t bytes) {
  drop(region);
  if (this->bytes() + bytes > bytes_max_) return unexpected(Errc::too_large);
  Fabric::Exposure& exposure = regions_[region];
  exposure.epoch = epoch;
  exposure.bytes.assign(bytes, std::byte{0});
  exposure.exposed = true;
  return {};
}

void SimMemory::revoke(const port::Region& region) {
  const auto found = regions_.find(region);
  if (found == regions_.end() || !found->second.exposed) return;
  found->second.exposed = false;
  const Duration lazy = fabric_.options_.lazy_revocation;
  if (lazy.ns == 0) return;
  const Instant now = fabric_.schedule_.now();
  found->second.revoked = now;
  found->second.writable_until = now + fabric_.draw({}, lazy);
}

void SimMemory::drop(const port::Region& region) {
  regions_.erase(region);
  found_.fill({});
}

const Fabric::Exposure* SimMemory::find(const port::Region& region) const {
  Found& place = found_[(region.writer.node.value * 8 + region.number) % found_.size()];
  if (place.exposure == nullptr || place.region != region) {
    const auto found = regions_.find(region);
    if (found == regions_.end()) return nullptr;
    place = {region, &found->second};
  }
  return place.exposure;
}

void SimMemory::put(const port::Region& region, std::uint64_t offset, ByteView bytes) {
  Fabric::Exposure& exposure = regions_.at(region);
  PEAL_ASSERT(offset + bytes.size() <= exposure.bytes.size());
  std::copy(bytes.begin(), bytes.end(),
            exposure.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  notify_();
}

bool SimMemory::load(const port::Region& region, std::uint64_t offset, ByteSpan to) const {
  const Fabric::Exposure* const found = find(region);
  if (found == nullptr) return false;
  const std::vector<std::byte>& bytes = found->bytes;
  if (offset > bytes.size() || to.size() > bytes.size() - offset) return false;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
  return true;
}

std::size_t SimMemory::bytes() const {
  std::size_t sum = 0;
  for (const auto& [region, exposure] : regions_) sum += exposure.bytes.size();
  return sum;
}

// ---- the writer's side ----

void SimMemory::write(const port::Place& place, ByteView bytes, std::uint64_t token) {
  PEAL_ASSERT(!bytes.empty());
  Fabric::Flight& flight = waiting_.emplace_back();
  flight.place = place;
  flight.bytes.assign(bytes.begin(), bytes.end());
  flight.token = token;
}

void SimMemory::flush(std::size_t most) {
  const std::size_t count = std::min(most, waiting_.size());
  const Instant now = fabric_.schedule_.now();
  for (std::size_t i = 0; i < count; ++i) fabric_.send(self_, std::move(waiting_[i]), now);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
}

void SimMemory::flush_first(Instant ready) {
  fabric_.send(self_, std::move(waiting_.front()), ready);
  waiting_.pop_front();
}

bool SimMemory::next_done(port::WriteDone& out) {
  if (done_.empty()) return false;
  out = done_.front();
  done_.pop_front();
  return true;
}

// ---- the fabric ----

std::unique_ptr<SimMemory> Fabric::attach(const MemberId& self, std::function<void()> notify) {
  auto memory = std::make_unique<SimMemory>(*this, self, std::move(notify));
  const bool is_new = memories_.emplace(self, memory.get()).second;
  PEAL_ASSERT(is_new);
  return memory;
}

/// The process ends. Each of its channels keeps a random beginning of what is under way, which may
/// end inside a write.
void Fabric::detach(const MemberId& self) {
  memories_.erase(self);
  for (auto& [key, channel] : channels_) {
    if (channel.writer != self) continue;
    std::size_t segments = 0;
    for (const Flight& flight : channel.flights)
      segments += flight.segments.size() - flight.applied;
    channel.segments_left = random_.below(segments + 1);
    if (*channel.segments_left < segments) ++counts_.lost_at_crash;
  }
}

SimMemory* Fabric::memory_of(const MemberId& member) {
  const auto found = memories_.find(member);
  return found == memories_.end() ? nullptr : found->second;
}

void Fabric::send(const MemberId& from, Flight flight, Instant ready) {
  ++counts_.writes;
  counts_.bytes += flight.bytes.size();
  if (observer_) observer_(from, flight.place, flight.bytes);
  cut_up(flight);
  flight.left = schedule_.now();
  if (carrier_ != nullptr) return send_by(*carrier_, from, std::move(flight), ready);
  Duration travel = draw(options_.write_least, options_.write_most);
  if (options_.slow > 0 && random_.chance(options_.slow)) travel = options_.slow_most;
  flight.starts = flight.left + travel +
                  options_.per_kilobyte * static_cast<std::int64_t>(flight.bytes.size() / 1'024);
  enqueue(from, std::move(flight));
}

/// The segments of the write, in the order in which they are applied.
void Fabric::cut_up(Flight& flight) {
  const std::size_t segment = options_.segment_bytes;
  for (std::size_t at = 0; at < flight.bytes.size(); at += segment) flight.segments.push_back(at);
  if (options_.tear == FabricOptions::Tear::descending) {
    std::reverse(flight.segments.begin(), flight.segments.end());
  } else if (options_.tear == FabricOptions::Tear::random) {
    for (std::size_t i = flight.segments.size(); i > 1; --i) {
      std::swap(flight.segments[i - 1], flight.segments[random_.below(i)]);
    }
  }
}

void Fabric::send_by(Carrier& carrier, const MemberId& from, Flight flight, Instant ready) {
  const Instant passes = carrier.depart(from.node, ready, flight.bytes.size());
  const auto moving = std::make_shared<Flight>(std::move(flight));
  schedule_.plan(passes, [this, &carrier, from, moving] {
    const NodeId to = moving->place.owner.node;
    moving->starts = carrier.pass(to, schedule_.now(), moving->bytes.size());
    enqueue(from, std::move(*moving));
  });
}

void Fabric::enqueue(const MemberId& from, Flight flight) {
  const ChannelKey key{{from, flight.place.owner}, flight.place.number};
  Channel& channel = channels_[key];
  channel.writer = from;
  channel.owner = flight.place.owner;
  channel.flights.push_back(std::move(flight));
  if (options_.early_ok) {
    end(channel, channel.flights.back(), WriteEnd::ok,
        schedule_.now() + draw({}, options_.done_most));
  }
  if (!channel.running) run(key);
}

/// Plans the next segment of the channel's first write.
void Fabric::run(const ChannelKey& key) {
  Channel& channel = channels_[key];
  channel.running = !channel.flights.empty();
  if (!channel.running) return;
  const Flight& flight = channel.flights.front();
  Instant at = std::max(flight.starts, channel.free);
  // A pause between two segments: a reader may look at half a record.
  const bool between = flight.applied > 0;
  if (between) at = at + draw(nanoseconds(1), nanoseconds(400));
  at = std::max(at, schedule_.now());
  channel.free = at;
  schedule_.plan(at, [this, key] { step(key, channels_[key]); });
}

void Fabric::step(const ChannelKey& key, Channel& channel) {
  Flight& flight = channel.flights.front();
  const Instant now = schedule_.now();
  if (is_cut(key) || memory_of(channel.owner) == nullptr) {
    const Instant deadline = flight.left + options_.down_after;
    if (now < deadline && is_cut(key)) {
      channel.free = std::min(deadline, now + options_.down_after / 16 + nanoseconds(1));
      return run(key);
    }
    end(channel, flight, WriteEnd::down, std::max(now, deadline));
    channel.flights.pop_front();
    return run(key);
  }
  if (channel.segments_left && *channel.segments_left == 0) {
    channel.flights.clear();  // the writer is gone
    return run(key);
  }
  const std::size_t chunk = options_.tear == FabricOptions::Tear::never
                                ? flight.segments.size()
                                : 1 + random_.below(flight.segments.size());
  bool permitted = true;
  for (std::size_t i = 0; i < chunk && permitted; ++i) {
    if (flight.applied == flight.segments.size()) break;
    if (channel.segments_left) {
      if (*channel.segments_left == 0) break;
      --*channel.segments_left;
    }
    permitted = apply(channel, flight);
  }
  const bool complete = permitted && flight.applied == flight.segments.size();
  if (!complete && permitted) ++counts_.torn;
  if (!permitted || complete) {
    const Instant done = now + draw(options_.done_least, options_.done_most);
    end(channel, flight, permitted ? WriteEnd::ok : WriteEnd::denied, done);
    channel.flights.pop_front();
  }
  if (SimMemory* owner = memory_of(channel.owner)) owner->notify_();
  run(key);
}

/// Applies one segment. False if the writer has no right to write it.
bool Fabric::apply(Channel& channel, Flight& flight) {
  SimMemory& owner = *memory_of(channel.owner);
  const auto found = owner.regions_.find({channel.writer, flight.place.number});
  if (found == owner.regions_.end()) return false;
  Exposure& exposure = found->second;
  if (exposure.epoch != flight.place.epoch) return false;
  if (!exposure.exposed) {
    const bool lazy = schedule_.now() < exposure.writable_until && flight.left < exposure.revoked;
    if (!lazy) return false;
    ++counts_.lazy;
  }
  const std::size_t size = exposure.bytes.size();
  const std::uint64_t offset = flight.place.offset;
  if (offset > size || flight.bytes.size() > size - offset) return false;
  const std::size_t at = flight.segments[flight.applied];
  const std::size_t length = std::min(options_.segment_bytes, flight.bytes.size() - at);
  std::copy_n(flight.bytes.begin() + static_cast<std::ptrdiff_t>(at), length,
              exposure.bytes.begin() + static_cast<std::ptrdiff_t>(offset + at));
  ++flight.applied;
  return true;
}

void Fabric::end(Channel& channel, Flight& flight, WriteEnd end, Instant at) {
  if (flight.told) return;
  flight.told = true;
  switch (end) {
    case WriteEnd::ok: ++counts_.ok; break;
    case WriteEnd::denied: ++counts_.denied; break;
    case WriteEnd::down: ++counts_.down; break;
  }
  // If the completion cannot come back, the writer does not know what arrived.
  if (!carries(channel.owner.node, channel.writer.node)) {
    end = WriteEnd::down;
    at = at + options_.down_after;
  }
  at = std::max(at, channel.last_done);
  channel.last_done = at;
  schedule_.plan(at, [this, writer = channel.writer, token = flight.token, end] {
    SimMemory* memory = memory_of(writer);
    if (memory == nullptr) return;
    memory->done_.push_back({token, end});
    memory->notify_();
  });
}

}  // namespace peal::sim
