// SPDX-License-Identifier: Apache-2.0
// Gives any bytes to a client as the output of a daemon, in pieces, while the client sends and
// connections break. The first byte of each piece is the length of the piece; a length of 0 breaks
// the connection.

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
    const std::uint64_t settled = session.outbox().settled();
    session.received(piece);
    PEAL_ASSERT(session.outbox().settled() >= settled &&
                session.outbox().settled() <= session.outbox().sent());
    peal::ignore(session.send(targets, piece, peal::Service::agreed, 0, false), "may be over");
    std::vector<peal::ByteView> chunks;
    session.gather(chunks, 4);
    std::size_t bytes = 0;
    for (const peal::ByteView chunk : chunks) bytes += chunk.size();
    session.written(bytes - bytes / 3);
    // Leave some items, so that a connection ends before they are read.
    peal::wire::MessageEvent message;
    for (std::size_t left = length % 4; session.inbox().size() > left;) {
      peal::ignore(session.take(message), "it may be gone, or no event");
    }
    PEAL_ASSERT((session.inbox().size() == 0) == (session.inbox().unread_bytes() == 0));
  }
  return 0;
}
