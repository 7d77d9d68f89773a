// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/local_protocol.h"

namespace peal::cli {

/// One delivered message as a JSON object, without an end of line: event, sender, number, view,
/// position, index, service, transitional, and text, or hex if the payload is not UTF-8.
std::string json_of(const MessageRecord& message);
/// One view: event, kind (regular or transitional), view, members, and primary if it is claimed;
/// a transitional one also old.
std::string json_of(const ViewRecord& view);
/// The digest of one view's order: event, view, messages, bytes, order.
std::string json_of(std::string_view view, const OrderDigest& digest);

/// The digest as it is printed everywhere: 16 hexadecimal digits.
std::string hex(std::uint64_t value);

}  // namespace peal::cli
