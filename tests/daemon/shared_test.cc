// SPDX-License-Identifier: Apache-2.0
#include "wire/shared.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "io/shared_memory.h"
#include "site.h"

// A daemon shares memory with its clients over real sockets.

namespace peal::daemon::test {
namespace {

wire::Hello sharing(std::string_view name) {
  wire::Hello hello;
  hello.name = name;
  hello.shares = true;
  return hello;
}

/// A client that maps the shared memory whose descriptor comes with the welcome.
struct RegionReader {
  explicit RegionReader(const std::string& socket)
      : stream(connected(socket)), client(take(stream)) {}

  static std::unique_ptr<io::Stream> connected(const std::string& socket) {
    auto fd = io::connect_unix(socket);
    EXPECT_TRUE(fd) << fd.error().message;
    auto made = io::make_plain_stream(std::move(*fd), {});
    made->expect_descriptor();
    return made;
  }
  std::unique_ptr<io::Stream> take(std::unique_ptr<io::Stream>& from) {
    raw = from.get();
    return std::move(from);
  }
  void map() {
    const io::Fd came = raw->take_descriptor();
    ASSERT_TRUE(came);
    auto mapped = io::map_shared_memory(came);
    ASSERT_TRUE(mapped) << mapped.error().message;
    memory = std::move(*mapped);
    ASSERT_EQ(memory.view().size(), client.welcome().shared_bytes);
    client.say(wire::RecordKind::mapped);
  }

  io::Stream* raw = nullptr;
  std::unique_ptr<io::Stream> stream;
  Client client;
  io::Mapping memory;
};

TEST(SharedMemory, HoldsWhatIsLargeForEachWhoAskedForIt) {
  const Folder folder;
  Site site(options_of(folder, 1, 1));
  RegionReader ann(site.socket());
  ann.client.greet(sharing("ann"));
  ann.map();
  Client bob(site.socket(), wire::Hello{});
  EXPECT_EQ(bob.welcome().shared_bytes, 0U);
  ann.client.join("chat");
  bob.join("chat");
  const std::string text(2'000, 'x');
  bob.send("chat", text);
  const auto got = ann.client.until(wire::RecordKind::shared);
  ASSERT_TRUE(got);
  ASSERT_EQ(got->kind, wire::RecordKind::shared);
  wire::RecordKind kind{};
  std::vector<std::byte> body;
  ASSERT_EQ(wire::read_shared(ann.memory.view(), got->as<wire::Shared>(), kind, body),
            wire::SharedRead::ok);
  EXPECT_EQ(kind, wire::RecordKind::message);
  wire::MessageEvent event;
  ASSERT_EQ(decode(ByteView(body), event), wire::Drop::none);
  EXPECT_EQ(as_text(event.payload), text);
  EXPECT_EQ(bob.message(), text);
}

TEST(SharedMemory, IsNotThereIfTheConfigurationSaysSo) {
  const Folder folder;
  Options options = options_of(folder, 1, 1);
  options.sessions.shared_bytes = 0;
  Site site(options);
  RegionReader ann(site.socket());
  ann.client.greet(sharing("ann"));
  EXPECT_EQ(ann.client.welcome().shared_bytes, 0U);
  EXPECT_FALSE(ann.raw->take_descriptor());
}

}  // namespace
}  // namespace peal::daemon::test
