// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/atomic_copy.h"

#include <algorithm>
#include <cstring>

namespace peal::io::fabric {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

/// Bytes before the first aligned word.
std::size_t bytes_to_word(const std::byte* at, std::size_t bytes) {
  const std::size_t over = reinterpret_cast<std::uintptr_t>(at) % kWord;
  return std::min(over == 0 ? 0 : kWord - over, bytes);
}

unsigned char& byte_at(std::byte* at) { return *reinterpret_cast<unsigned char*>(at); }
std::uint64_t& word_at(std::byte* at) { return *reinterpret_cast<std::uint64_t*>(at); }
// An atomic_ref cannot refer to something that is const; it is only read.
std::byte* writable(const std::byte* at) { return const_cast<std::byte*>(at); }

void put_bytes(std::byte* shared, const std::byte* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::atomic_ref<unsigned char>(byte_at(shared + i))
        .store(std::to_integer<unsigned char>(from[i]), std::memory_order_relaxed);
  }
}

void take_bytes(const std::byte* shared, std::byte* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = std::byte(std::atomic_ref<unsigned char>(byte_at(writable(shared + i)))
                          .load(std::memory_order_relaxed));
  }
}

}  // namespace

void copy_to_shared(std::byte* shared, ByteView from) {
  const std::size_t head = bytes_to_word(shared, from.size());
  put_bytes(shared, from.data(), head);
  std::size_t at = head;
  for (; from.size() - at >= kWord; at += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data() + at, kWord);
    std::atomic_ref<std::uint64_t>(word_at(shared + at)).store(word, std::memory_order_relaxed);
  }
  put_bytes(shared + at, from.data() + at, from.size() - at);
}

void copy_from_shared(const std::byte* shared, ByteSpan to) {
  const std::size_t head = bytes_to_word(shared, to.size());
  take_bytes(shared, to.data(), head);
  std::size_t at = head;
  for (; to.size() - at >= kWord; at += kWord) {
    const std::uint64_t word = std::atomic_ref<std::uint64_t>(word_at(writable(shared + at)))
                                   .load(std::memory_order_relaxed);
    std::memcpy(to.data() + at, &word, kWord);
  }
  take_bytes(shared + at, to.data() + at, to.size() - at);
}

}  // namespace peal::io::fabric
