// SPDX-License-Identifier: Apache-2.0
// Names and addresses in a configuration file.
#include <arpa/inet.h>

#include <algorithm>
#include <optional>

#include "cli/config.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

/// Digits only, without leading zeros.
std::optional<std::uint32_t> whole_number(std::string_view text, std::uint32_t maximum) {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return number_in<std::uint32_t>(text, 0, maximum);
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

io::Endpoint parse_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon < 2) return {};
  const auto port = whole_number(text.substr(colon + 1), 65'535);
  std::string_view host = text.substr(0, colon);
  if (!port || *port == 0) return {};
  io::Endpoint endpoint;
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    in6_addr ip{};
    if (inet_pton(AF_INET6, std::string(host).c_str(), &ip) != 1) return {};
    std::copy(std::begin(ip.s6_addr), std::end(ip.s6_addr), endpoint.ip.begin());
  } else {
    endpoint = io::Endpoint::v4(0, 0, 0, 0, 0);
    for (std::size_t i = 12; i < 16; ++i) {
      const auto dot = i < 15 ? host.find('.') : host.size();
      if (dot == std::string_view::npos) return {};
      const auto byte = whole_number(host.substr(0, dot), 255);
      if (!byte) return {};
      endpoint.ip[i] = static_cast<std::uint8_t>(*byte);
      host.remove_prefix(std::min(dot + 1, host.size()));
    }
  }
  endpoint.port = static_cast<std::uint16_t>(*port);
  return endpoint;
}

}  // namespace peal::cli
