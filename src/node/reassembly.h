// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "node/node.h"
#include "node/unit.h"

namespace peal::node {

/// Puts large messages together, one at a time for each origin. The result depends only on the
/// chunks fed since the last clear(), so that all members of a view agree. For each origin, memory
/// grows with the received bytes, up to the maximum message size. It does not grow with a length
/// that the sender only claims.
class Reassembly {
 public:
  Reassembly();

  enum class Fed : std::uint8_t {
    whole,     ///< the chunk is a whole message
    open,      ///< the message has more chunks
    complete,  ///< the chunk completed a message: see take()
    /// The chunk does not continue an unfinished message of its origin, or there are too many
    /// origins.
    ignored,
  };
  /// Feeds the next chunk of `origin`. A chunk that does not continue the origin's unfinished
  /// message drops that message.
  Fed feed(MemberId origin, const Chunk& chunk);
  /// The message that the last feed() completed.
  Gathered take();
  /// Gives back the memory of a taken message, so that later messages reuse it. Then a steady
  /// stream of messages slightly too large for one unit allocates nothing.
  void give_back(Gathered message);

  /// Drops all unfinished messages.
  void clear();
  /// Memory held, in bytes.
  std::uint64_t bytes() const { return bytes_; }
  /// Unfinished messages dropped so far because a chunk came that did not continue them.
  std::uint64_t drops() const { return drops_; }

  void check_invariants(std::uint32_t message_bytes_max) const;
  void add_to(Digest& digest) const;

 private:
  struct Partial {
    MemberId origin{};
    std::uint64_t number = 0;  ///< 0: no unfinished message
    Service service{};
    std::uint32_t total = 0;
    std::uint32_t received = 0;
    std::uint32_t capacity = 0;
    std::unique_ptr<std::byte[]> memory;
  };

  Partial* find(MemberId origin);
  /// The origin's entry, or null if there are too many origins with unfinished messages.
  Partial* find_or_add(MemberId origin);
  void drop_former(MemberId origin);
  void append(Partial& partial, ByteView bytes);
  void drop(Partial& partial);
  std::unique_ptr<std::byte[]> take_spare(std::uint32_t bytes);

  static constexpr std::size_t kSparesMax = 8;
  static constexpr std::uint32_t kSpareBytesMax = 16 * 1'024;

  std::vector<Partial> partials_;  ///< sorted by origin
  Gathered done_;
  std::vector<Gathered> spares_;  ///< the most recently used last
  std::uint64_t bytes_ = 0;
  std::uint64_t drops_ = 0;
};

}  // namespace peal::node
