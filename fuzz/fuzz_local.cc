// SPDX-License-Identifier: Apache-2.0
// Any bytes, to the records of a node's local socket. A record that is accepted must encode to the
// same bytes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cli/local_protocol.h"

namespace {

namespace cli = peal::cli;
using Bytes = std::vector<std::byte>;

void require_same(const Bytes& again, peal::ByteView body) {
  const peal::ByteView tail = peal::ByteView(again).subspan(cli::kRecordHeaderBytes);
  if (std::equal(tail.begin(), tail.end(), body.begin(), body.end())) return;
  std::fprintf(stderr, "an accepted record encodes to other bytes\n");
  std::abort();
}

void try_all(peal::ByteView body) {
  Bytes again;
  if (const auto request = cli::parse_send(body)) {
    cli::append_send(again, request->service, request->payload);
    require_same(again, body);
  }
  again.clear();
  if (const auto count = cli::parse_ordered(body)) {
    cli::append_ordered(again, *count);
    require_same(again, body);
  }
  again.clear();
  if (const auto welcome = cli::parse_welcome(body)) {
    cli::append_welcome(again, *welcome);
    require_same(again, body);
  }
  again.clear();
  if (const auto message = cli::parse_message(body)) {
    cli::append_message(again, *message);
    require_same(again, body);
  }
  again.clear();
  if (const auto view = cli::parse_view(body)) {
    cli::append_view(again, *view);
    require_same(again, body);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  peal::ByteView rest = std::as_bytes(std::span(data, size));
  try_all(rest);
  for (int records = 0; records < 64; ++records) {
    const cli::Framed framed = cli::next_record(rest, 4'096, 65'536);
    if (framed.state != cli::Framed::State::complete) return 0;
    if (framed.bytes > rest.size() || framed.record.body.size() > framed.bytes) std::abort();
    try_all(framed.record.body);
    rest = rest.subspan(framed.bytes);
  }
  return 0;
}
