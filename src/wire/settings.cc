// SPDX-License-Identifier: Apache-2.0
#include "wire/settings.h"

#include <algorithm>
#include <cstdint>

#include "wire/packet.h"

namespace peal::wire {
namespace {

/// Reads a text; one byte before the text gives its length.
std::string_view read_text(ByteReader& in) {
  const ByteView bytes = in.bytes(in.u<std::uint8_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_text(Writer& out, std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max) return out.fail();
  out.u(static_cast<std::uint8_t>(text.size()));
  out.bytes(as_bytes_view(text));
}

}  // namespace

Drop decode_settings(ByteView packet, SettingsFrame& out) {
  if (packet.size() > kSettingsBytesMax) return Drop::count_too_large;
  ByteReader in = body_of(packet);
  const auto asks = in.u<std::uint8_t>();
  in.require(asks <= 1, Drop::bad_value);
  out.asks = asks == 1;
  const auto count = in.u<std::uint8_t>();
  in.require(count <= kSettingsMax, Drop::count_too_large);
  out.settings.clear();
  std::string_view before;
  for (std::uint8_t i = 0; i < count && !in.failed(); ++i) {
    Setting setting;
    setting.key = read_text(in);
    if (in.failed()) break;
    in.require(!setting.key.empty() && setting.key.size() <= kSettingKeyMax, Drop::bad_value);
    in.require(before < setting.key, Drop::not_sorted);
    setting.value = read_text(in);
    before = setting.key;
    out.settings.push_back(setting);
  }
  return in.finish();
}

std::size_t encode_settings(const Header& header, const SettingsFrame& in, ByteSpan packet) {
  Writer out(packet.first(std::min(packet.size(), kSettingsBytesMax)));
  write_header(out, FrameKind::settings, header);
  out.u(static_cast<std::uint8_t>(in.asks ? 1 : 0));
  out.u(static_cast<std::uint8_t>(in.settings.size()));
  for (const Setting& setting : in.settings) {
    if (setting.key.empty()) out.fail();
    write_text(out, setting.key, kSettingKeyMax);
    write_text(out, setting.value, kSettingValueMax);
  }
  return finish(out, packet, header.checksum);
}

}  // namespace peal::wire
