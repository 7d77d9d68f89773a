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

/// Puts large messages together, one at a time per origin. What it does depends only on the chunks
/// fed since the last clear(), so that all members of a view agree. Memory grows with the bytes
/// that came, never with a length that somebody claims, and stays below the largest message for
/// each origin.
class Reassembly {
 public:
  Reassembly();

  enum class Fed : std::uint8_t {
    whole,     ///< the chunk is a message
    open,      ///< more is to come
    complete,  ///< the chunk finished a message: see take()
    ignored,   ///< it does not continue what came before
  };
  /// The next chunk of `origin`. One that does not continue that origin's unfinished message drops
  /// it.
  Fed feed(MemberId origin, const Chunk& chunk);
  /// The message that the last feed() completed.
  Gathered take();
  /// Memory of a message that take() gave and nobody needs any more, for those to come: a steady
  /// stream of messages that are a little too large for one unit allocates nothing then.
  void give_back(Gathered message);

  /// Forgets all unfinished messages.
  void clear();
  /// Memory held.
  std::uint64_t bytes() const { return bytes_; }
  /// Unfinished messages that were dropped because something else came, ever.
  std::uint64_t drops() const { return drops_; }

  void check_invariants(std::uint32_t message_bytes_max) const;
  void add_to(Digest& digest) const;

 private:
  struct Partial {
    MemberId origin{};
    std::uint64_t number = 0;  ///< 0 if there is none
    Service service{};
    std::uint32_t total = 0;
    std::uint32_t received = 0;
    std::uint32_t capacity = 0;
    std::unique_ptr<std::byte[]> memory;
  };

  Partial* find(MemberId origin);
  /// The origin's place, or null if there are too many origins.
  Partial* find_or_add(MemberId origin);
  void append(Partial& partial, ByteView bytes);
  void drop(Partial& partial);
  std::unique_ptr<std::byte[]> take_spare(std::uint32_t bytes);

  static constexpr std::size_t kSparesMax = 8;
  static constexpr std::uint32_t kSpareBytesMax = 16 * 1'024;

  std::vector<Partial> partials_;  ///< sorted by origin
  Gathered done_;
  std::vector<Gathered> spares_;  ///< the last was used last
  std::uint64_t bytes_ = 0;
  std::uint64_t drops_ = 0;
};

}  // namespace peal::node
