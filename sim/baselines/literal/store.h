// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "base/digest.h"
#include "sim/baselines/literal/options.h"
#include "sim/baselines/literal/records.h"

namespace peal::sim::genuine::literal {

/// What a server has written about a message.
struct Said {
  std::uint32_t checksum = 0;  ///< of the record
  Round round = 0;             ///< of its own domain; 0: no acknowledgement
  std::uint64_t digest = 0;    ///< of all stamps; 0 as published
};

/// A message at a server. The states of the paper: MCAST (has a unit and no key), ORDERED (has a
/// key), DONE.
struct Message {
  Head head;
  Body body;            ///< null: the unit is not here
  Proposals columns{};  ///< T: what was accepted here
  Proposals foreign{};  ///< T at a leader: what leaders of other domains wrote
  std::map<NodeId, Said> said;
  std::uint64_t digest = 0;  ///< of the stamps that this server has acknowledged
  Round acked = 0;           ///< the round in which it acknowledged last
  Key key = 0;               ///< 0: unknown
  bool done = false;         ///< delivered here
  std::size_t placed = 0;    ///< at a leader: followers at which the stamp is
  Instant retry_at{};
  Duration wait{};

  void start_timer(Instant now, Duration retry) {
    wait = retry;
    retry_at = now + retry;
  }
};

/// The messages of one incarnation of a client, by their index in this domain.
struct Stream {
  std::uint64_t next = 1;      ///< the index whose unit comes next from the client
  std::uint64_t log_next = 1;  ///< the index whose stamp comes next from the leader
  std::uint64_t proposed = 0;  ///< at a leader: all up to this index have stamps, or are done
  std::uint64_t done = 0;      ///< all up to this index are delivered here
  std::uint64_t told = 0;      ///< released, as the client knows
  std::map<std::uint64_t, Message> messages;
};

/// A message by its client, and its index in this domain.
using Place = std::pair<MemberId, std::uint64_t>;

class Store {
 public:
  Store(DomainId domain, std::uint64_t clock, std::uint32_t slots)
      : domain_(domain), clock_(clock), slots_(slots) {}

  DomainId domain() const { return domain_; }
  std::uint64_t clock() const { return clock_; }
  void raise(Key key) { clock_ = std::max(clock_, clock_of(key)); }
  std::uint64_t next_clock() { return ++clock_; }

  std::map<MemberId, Stream>& streams() { return streams_; }
  const std::map<MemberId, Stream>& streams() const { return streams_; }
  Stream& stream(const MemberId& client) { return streams_[client]; }
  std::uint64_t index_of(const Head& head) const { return head.index[domain_]; }
  Place place_of(const Head& head) const { return {head.sender, index_of(head)}; }

  Message* find(const Place& place) {
    const auto stream = streams_.find(place.first);
    if (stream == streams_.end()) return nullptr;
    const auto found = stream->second.messages.find(place.second);
    return found == stream->second.messages.end() ? nullptr : &found->second;
  }
  /// The message, which becomes known: the slot's earlier message is forgotten. Null if the slot
  /// has a later one.
  Message* know(const Head& head) {
    Stream& stream = streams_[head.sender];
    const std::uint64_t index = index_of(head);
    if (!stream.messages.empty() && stream.messages.rbegin()->first >= index + slots_) {
      return nullptr;
    }
    const auto [found, fresh] = stream.messages.try_emplace(index);
    if (!fresh) return &found->second;
    found->second.head = head;
    open_.insert({head.sender, index});
    while (stream.messages.begin()->first + slots_ <= index) {
      open_.erase({head.sender, stream.messages.begin()->first});
      stream.messages.erase(stream.messages.begin());
    }
    return &found->second;
  }
  /// Messages that are not done, and those that others ask for.
  std::set<Place>& open() { return open_; }
  const std::set<Place>& open() const { return open_; }

 private:
  DomainId domain_;
  std::uint64_t clock_;
  std::uint32_t slots_;
  std::map<MemberId, Stream> streams_;
  std::set<Place> open_;
};

}  // namespace peal::sim::genuine::literal
