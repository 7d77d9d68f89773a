// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "io/stream.h"

namespace peal::io::test {

/// Both ends of a connection.
struct StreamPair {
  StreamPair() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()), 0);
    near = make_plain_stream(Fd(fds[0]), {});
    far = make_plain_stream(Fd(fds[1]), {});
  }
  std::unique_ptr<Stream> near;
  std::unique_ptr<Stream> far;
};

/// The text that one read returns.
inline std::string read_some(Stream& stream, std::size_t limit = 4'096) {
  std::vector<std::byte> buffer(limit);
  const Transfer got = stream.read(buffer);
  return std::string(as_text(ByteView(buffer).first(got.bytes)));
}

}  // namespace peal::io::test
