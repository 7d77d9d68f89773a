// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "base/bytes.h"
#include "base/fixed_vector.h"
#include "wire/frames.h"

// The frame in which a node tells another node its cluster-wide settings, once packets have shown
// that the settings differ. No engine reads the frame: the runtime compares the settings, and
// reports the differences to people.

namespace peal::wire {

inline constexpr std::size_t kSettingsMax = 64;
inline constexpr std::size_t kSettingKeyMax = 64;     // bytes of a key; at least 1
inline constexpr std::size_t kSettingValueMax = 255;  // bytes of a value
/// Maximum size of the whole packet, so that it fits into a datagram on any link.
inline constexpr std::size_t kSettingsBytesMax = 1'200;

/// Key and value may hold any bytes. They point into the decoded packet.
struct Setting {
  std::string_view key;
  std::string_view value;
  friend bool operator==(const Setting&, const Setting&) = default;
};

struct SettingsFrame {
  bool asks = false;                            ///< the receiver should answer with its settings
  FixedVector<Setting, kSettingsMax> settings;  ///< ascending by key; no key twice
  friend bool operator==(const SettingsFrame&, const SettingsFrame&) = default;
};

// The rules of frames.h apply. The decoder does not allocate: the texts of `out` are valid as long
// as the packet is. The encoder also returns 0 if a text is longer than its maximum, a key is
// empty, or the packet would be longer than kSettingsBytesMax.
[[nodiscard]] Drop decode_settings(ByteView packet, SettingsFrame& out);
[[nodiscard]] std::size_t encode_settings(const Header& header, const SettingsFrame& in,
                                          ByteSpan out);

}  // namespace peal::wire
