// SPDX-License-Identifier: Apache-2.0
#include "io/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "io/stream_listener.h"
#include "stream_pair.h"
#include "temp_dir.h"

namespace peal::io {
namespace {

using test::read_some;
using test::StreamPair;

using testing::HasSubstr;

Transfer write_text(Stream& stream, std::string_view text) {
  const std::array<ByteView, 1> chunks{as_bytes_view(text)};
  return stream.write(chunks);
}

TEST(PlainStream, WritesManyChunksAsOneRun) {
  const StreamPair pair;
  std::vector<std::string> texts;
  std::string expected;
  for (std::size_t i = 0; i < Stream::kChunksMax + 44; ++i) {
    texts.push_back(std::to_string(i) + ",");
    if (i < Stream::kChunksMax) expected += texts.back();
  }
  const std::vector<ByteView> chunks = [&] {
    std::vector<ByteView> all;
    for (const auto& text : texts) all.push_back(as_bytes_view(text));
    return all;
  }();
  const Transfer put = pair.near->write(chunks);
  EXPECT_EQ(put.bytes, expected.size());
  EXPECT_EQ(put.outcome, StreamOutcome::ok);
  EXPECT_EQ(read_some(*pair.far), expected);
}

TEST(PlainStream, HasNothingToDoWithNothing) {
  const StreamPair pair;
  EXPECT_EQ(pair.near->write({}).outcome, StreamOutcome::ok);
  EXPECT_EQ(write_text(*pair.near, "").outcome, StreamOutcome::ok);
  EXPECT_EQ(pair.near->read({}).outcome, StreamOutcome::ok);
  std::array<std::byte, 8> buffer{};
  const Transfer got = pair.near->read(buffer);
  EXPECT_EQ(got.outcome, StreamOutcome::blocked);
  EXPECT_EQ(got.bytes, 0U);
}

TEST(PlainStream, BlocksWhenThePeerDoesNotReadAndGoesOnWhenItDoes) {
  const StreamPair pair;
  const std::string block(100'000, 'x');
  std::size_t taken = 0;
  Transfer put;
  while ((put = write_text(*pair.near, block)).outcome == StreamOutcome::ok) taken += put.bytes;
  ASSERT_EQ(put.outcome, StreamOutcome::blocked);
  taken += put.bytes;
  std::size_t read = 0;
  for (std::string got; !(got = read_some(*pair.far, 65'536)).empty();) read += got.size();
  EXPECT_EQ(read, taken);
  EXPECT_GT(write_text(*pair.near, block).bytes, 0U);
}

TEST(PlainStream, ReadsOnAfterItHasSaidAllItHadToSay) {
  const StreamPair pair;
  write_text(*pair.near, "last words");
  EXPECT_EQ(pair.near->finish_writing(), StreamOutcome::ok);
  EXPECT_EQ(read_some(*pair.far), "last words");
  std::array<std::byte, 8> buffer{};
  EXPECT_EQ(pair.far->read(buffer).outcome, StreamOutcome::end);
  EXPECT_EQ(pair.far->read(buffer).outcome, StreamOutcome::end);
  write_text(*pair.far, "answer");
  EXPECT_EQ(read_some(*pair.near), "answer");
}

TEST(PlainStream, SurvivesAPeerThatIsGone) {
  StreamPair pair;
  pair.far.reset();
  const Transfer put = write_text(*pair.near, "x");  // must not raise SIGPIPE
  EXPECT_EQ(put.outcome, StreamOutcome::broken);
  EXPECT_EQ(pair.near->error().code, Errc::closed);
  EXPECT_THAT(pair.near->error().message, HasSubstr("write: "));
}

TEST(PlainStream, SaysThatItWasReset) {
  StreamPair pair;
  write_text(*pair.near, "never read");
  pair.far.reset();
  std::array<std::byte, 8> buffer{};
  EXPECT_EQ(pair.near->read(buffer).outcome, StreamOutcome::broken);
  EXPECT_EQ(pair.near->error().code, Errc::closed);
}

StreamOutcome wait_until_connected(Stream& stream) {
  StreamOutcome outcome = stream.advance();
  while (outcome == StreamOutcome::blocked) {
    pollfd poll{stream.fd(), stream.waits_for(), 0};
    EXPECT_EQ(::poll(&poll, 1, -1), 1);
    outcome = stream.advance();
  }
  return outcome;
}

std::unique_ptr<Stream> begin_tcp(const Endpoint& to) {
  auto fd = connect_tcp(to);
  EXPECT_TRUE(fd.has_value());
  StreamPeer peer;
  peer.text = to_string(to);
  return make_plain_stream(std::move(*fd), peer);
}

std::unique_ptr<Stream> accept_one(StreamListener& listener) {
  StreamListener::Accepted accepted;
  while (accepted.answer == StreamListener::Answer::nothing) {
    pollfd poll{listener.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&poll, 1, -1), 1);
    accepted = listener.accept();
  }
  EXPECT_EQ(accepted.answer, StreamListener::Answer::taken);
  return std::move(accepted.stream);
}

TEST(StreamListener, TakesTcpOverIPv4AndIPv6) {
  Endpoint v6;
  v6.ip[15] = 1;
  Endpoint any;
  for (const Endpoint& at : {Endpoint::v4(127, 0, 0, 1, 0), v6, any}) {
    auto listener = StreamListener::tcp(at, make_plain_stream);
    ASSERT_TRUE(listener.has_value()) << listener.error().message;
    Endpoint to = (*listener)->endpoint();
    ASSERT_NE(to.port, 0);
    if (to.is_unspecified()) to = Endpoint::v4(127, 0, 0, 1, to.port);  // [::] accepts IPv4 too
    const auto near = begin_tcp(to);
    ASSERT_EQ(wait_until_connected(*near), StreamOutcome::ok);
    const auto far = accept_one(**listener);
    EXPECT_EQ(far->peer().kind, StreamPeer::Kind::unknown);
    EXPECT_FALSE(far->peer().local);
    EXPECT_THAT(far->peer().text, HasSubstr(to.is_v4() ? "127.0.0.1:" : "[::1]:"));
    write_text(*near, "hello");
    pollfd poll{far->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&poll, 1, -1), 1);
    EXPECT_EQ(read_some(*far), "hello");
  }
}

TEST(StreamListener, RefusesAnAddressThatAnotherHasOrThatIsNotOurs) {
  auto first = StreamListener::tcp(Endpoint::v4(127, 0, 0, 1, 0), make_plain_stream);
  ASSERT_TRUE(first.has_value());
  const auto second = StreamListener::tcp((*first)->endpoint(), make_plain_stream);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::address_in_use);
  EXPECT_THAT(second.error().message, HasSubstr((*first)->text()));
  const auto foreign = StreamListener::tcp(Endpoint::v4(192, 0, 2, 1, 0), make_plain_stream);
  ASSERT_FALSE(foreign.has_value());
  EXPECT_EQ(foreign.error().code, Errc::invalid_option);
}

TEST(ConnectTcp, SaysThatNobodyListens) {
  Endpoint at;
  {
    const auto listener = StreamListener::tcp(Endpoint::v4(127, 0, 0, 1, 0), make_plain_stream);
    ASSERT_TRUE(listener.has_value());
    at = (*listener)->endpoint();
  }
  const auto stream = begin_tcp(at);
  EXPECT_EQ(wait_until_connected(*stream), StreamOutcome::broken);
  EXPECT_THAT(stream->error().message, HasSubstr("connect to " + to_string(at)));
}

TEST(StreamListener, KnowsWhoConnectsToAUnixSocket) {
  const TempDir dir;
  auto listener = StreamListener::unix_socket(dir / "s", 0600);
  ASSERT_TRUE(listener.has_value());
  const auto near = connect_unix(dir / "s");
  ASSERT_TRUE(near.has_value());
  const auto far = accept_one(**listener);
  const StreamPeer& peer = far->peer();
  EXPECT_EQ(peer.kind, StreamPeer::Kind::unix_user);
  EXPECT_TRUE(peer.local);
  EXPECT_EQ(peer.uid, ::geteuid());
  EXPECT_EQ(peer.gid, ::getegid());
  EXPECT_EQ(peer.pid, ::getpid());
  EXPECT_EQ(peer.text,
            "uid " + std::to_string(::geteuid()) + ", pid " + std::to_string(::getpid()));
  std::vector<gid_t> groups(1'024);
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  ASSERT_GE(count, 0);
  groups.resize(static_cast<std::size_t>(count));
  groups.push_back(::getegid());
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  EXPECT_THAT(peer.groups, testing::ElementsAreArray(groups));
  EXPECT_EQ((*listener)->accept().answer, StreamListener::Answer::nothing);
}

TEST(StreamListener, TakesItsFileAway) {
  const TempDir dir;
  { ASSERT_TRUE(StreamListener::unix_socket(dir / "s", 0600).has_value()); }
  EXPECT_EQ(connect_unix(dir / "s").error().code, Errc::closed);
  EXPECT_NE(::access((dir / "s").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace peal::io
