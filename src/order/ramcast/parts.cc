// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/parts.h"

#include <algorithm>

namespace peal::order::ramcast {

void send_relay(const Parts& parts, NodeIndex to, const wire::MessageRelay& frame, ByteView unit,
                Effects& out) {
  parts.send(to, out, [&](const wire::Header& header, ByteSpan bytes) -> std::size_t {
    const std::size_t front = wire::relay_header_bytes(frame.head.indexes.size());
    if (bytes.size() < front + unit.size()) return 0;
    std::copy(unit.begin(), unit.end(), bytes.subspan(front).begin());
    wire::encode_message_relay_in_place(header, frame, bytes.first(front + unit.size()));
    return front + unit.size();
  });
}

}  // namespace peal::order::ramcast
