// SPDX-License-Identifier: Apache-2.0
// Any bytes as a daemon's output to a client: in pieces, with cuts, while the client sends. The
// first byte of each piece is its length; 0 cuts the connection.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "client/session.h"
#include "shared_page.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  peal::ByteView rest(reinterpret_cast<const std::byte*>(data), size);
  peal::client::Session session({"fuzz", "", 1'000, 1U << 16U, true});
  const peal::fuzz::SharedPage page;
  const std::vector<std::string_view> targets{"chat"};
  session.connected();
  session.share(page.view());
  while (!rest.empty()) {
    const auto length = std::min<std::size_t>(static_cast<std::size_t>(rest[0]), rest.size() - 1);
    const peal::ByteView piece = rest.subspan(1, length);
    rest = rest.subspan(1 + length);
    if (length == 0) {
      session.disconnected("cut");
      if (session.phase() == peal::client::Session::Phase::apart) {
        session.connected();
        session.share(page.view());
      }
      continue;
    }
    const std::uint64_t settled = session.settled();
    session.received(piece);
    PEAL_ASSERT(session.settled() >= settled && session.settled() <= session.sent());
    peal::ignore(session.send(targets, piece, peal::Service::agreed, 0, false), "may be over");
    std::vector<peal::ByteView> chunks;
    session.gather(chunks, 4);
    std::size_t bytes = 0;
    for (const peal::ByteView chunk : chunks) bytes += chunk.size();
    session.written(bytes - bytes / 3);
    // Some remain, so that a connection ends before they are read.
    peal::wire::MessageEvent message;
    for (std::size_t left = length % 4; session.unread_events() > left;) {
      peal::ignore(session.take(message), "it may be gone, or no event");
    }
    PEAL_ASSERT((session.unread_events() == 0) == (session.unread_bytes() == 0));
  }
  return 0;
}
