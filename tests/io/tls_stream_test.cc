// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "streams_room.h"
#include "tls_parts.h"

namespace peal::io {
namespace {

using testing::HasSubstr;

TEST(TlsStream, CarriesBytesBothWaysAndKnowsBothNames) {
  const TlsParts parts;
  TlsPair pair(open_server(parts.server_options()), open_client(parts.client_options()));
  pair.shake_hands();
  ASSERT_TRUE(pair.both_open()) << pair.server->error().message << pair.client->error().message;
  EXPECT_EQ(pair.server->peer().kind, StreamPeer::Kind::certificate);
  EXPECT_EQ(pair.server->peer().name, "alice");
  EXPECT_EQ(pair.server->peer().text, "10.0.0.7:51312 (alice)");
  EXPECT_EQ(pair.client->peer().name, "node-1.example");
  EXPECT_EQ(say(*pair.client, "hello").bytes, 5U);
  EXPECT_EQ(hear(*pair.server), "hello");
  EXPECT_EQ(say(*pair.server, "good day").outcome, StreamOutcome::ok);
  EXPECT_EQ(hear(*pair.client), "good day");
}

TEST(TlsStream, AcceptsAServerByItsAddress) {
  const TlsParts parts;
  TlsPair pair(open_server(parts.server_options()), open_client(parts.client_options()),
               "127.0.0.1");
  pair.shake_hands();
  EXPECT_TRUE(pair.both_open()) << pair.client->error().message;
}

TEST(TlsStream, LetsInWhoHasNoCertificateOnlyIfThatIsAllowed) {
  const TlsParts parts;
  const auto client = open_client(parts.nameless_client_options());
  for (const auto clients : {ClientCertificates::none, ClientCertificates::optional}) {
    TlsPair pair(open_server(parts.server_options(clients)), client);
    pair.shake_hands();
    ASSERT_TRUE(pair.both_open());
    EXPECT_EQ(pair.server->peer().kind, StreamPeer::Kind::unknown);
    EXPECT_EQ(pair.server->peer().name, "");
  }
  TlsPair pair(open_server(parts.server_options(ClientCertificates::required)), client);
  pair.shake_hands();
  EXPECT_EQ(pair.server_outcome, StreamOutcome::broken);
  EXPECT_EQ(pair.server->error().code, Errc::not_permitted);
  EXPECT_THAT(pair.server->error().message, HasSubstr("it has no certificate"));
  // The client's handshake ended before the server refused the client. The next read of the client
  // reports the reason.
  EXPECT_EQ(listen_to(*pair.client), StreamOutcome::broken);
  EXPECT_THAT(pair.client->error().message, HasSubstr("needs a certificate of us"));
  EXPECT_EQ(pair.client->error().code, Errc::not_permitted);
}

TEST(TlsStream, DoesNotAskForCertificatesThatItWouldNotLookAt) {
  const TlsParts parts;
  TlsPair pair(open_server(parts.server_options(ClientCertificates::none)),
               open_client(parts.client_options()));
  pair.shake_hands();
  ASSERT_TRUE(pair.both_open());
  EXPECT_EQ(pair.server->peer().kind, StreamPeer::Kind::unknown);
}

struct ServerCase {
  CertificateRequest request;
  bool foreign_issuer;
  std::string server;
  std::string reason;
};

TEST(TlsStream, ClientsRefuseServersThatAreNotWhoTheyShouldBe) {
  CertificateRequest good;
  good.alternative_names = "DNS:node-1.example,DNS:*.wild.example,IP:10.0.0.1";
  CertificateRequest only_common = good;
  only_common.common_name = "node-1.example";
  only_common.alternative_names = "";
  CertificateRequest for_clients = good;
  for_clients.usage = "clientAuth";
  const ServerCase cases[] = {
      {good, true, "node-1.example", "its issuer is not one of those that are trusted here"},
      {good, false, "node-2.example", "it is for another name"},
      {good, false, "10.0.0.2", "it is for another name"},
      {good, false, "example", "it is for another name"},
      {good, false, "a.b.wild.example", "it is for another name"},
      {only_common, false, "node-1.example", "it is for another name"},
      {for_clients, false, "node-1.example", "it was made for another purpose"},
      {good, false, "", "is no name that a server can have"},
  };
  const auto stranger = TestCertificate::authority("stranger");
  for (const auto& [request, foreign_issuer, server, reason] : cases) {
    TlsParts parts;
    parts.write("server", (foreign_issuer ? stranger : parts.authority).issue(request));
    TlsPair pair(open_server(parts.server_options()), open_client(parts.client_options()), server);
    pair.shake_hands();
    EXPECT_EQ(pair.client_outcome, StreamOutcome::broken) << reason;
    EXPECT_THAT(pair.client->error().message, HasSubstr(reason));
    EXPECT_NE(pair.server_outcome, StreamOutcome::ok) << reason;
  }
}

TEST(TlsStream, ServersRefuseClientsThatTheyCannotTrust) {
  CertificateRequest good;
  good.common_name = "alice";
  CertificateRequest for_servers = good;
  for_servers.usage = "serverAuth";
  CertificateRequest nameless = good;
  nameless.common_name = "";
  const auto stranger = TestCertificate::authority("stranger");
  struct Case {
    CertificateRequest request;
    bool foreign_issuer;
    std::string reason;
  };
  const Case cases[] = {
      {good, true, "its issuer is not one of those that are trusted here"},
      {for_servers, false, "it was made for another purpose"},
      {nameless, false, "its certificate has no name that rules could know it by"},
  };
  for (const auto clients : {ClientCertificates::optional, ClientCertificates::required}) {
    for (const auto& [request, foreign_issuer, reason] : cases) {
      TlsParts parts;
      parts.write("client", (foreign_issuer ? stranger : parts.authority).issue(request));
      TlsPair pair(open_server(parts.server_options(clients)), open_client(parts.client_options()));
      pair.shake_hands();
      EXPECT_EQ(pair.server_outcome, StreamOutcome::broken) << reason;
      EXPECT_THAT(pair.server->error().message, HasSubstr(reason));
      EXPECT_EQ(pair.server->error().code, Errc::not_permitted);
    }
  }
}

TEST(TlsStream, RefusesCertificatesThatEndWhileTheProgramRuns) {
  // A server cannot be opened with an expired certificate, so the test moves the client's clock.
  TlsParts parts;
  CertificateRequest request;
  request.alternative_names = "DNS:node-1.example";
  const auto client_context = open_client(parts.client_options());
  X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(client_context->get()), ::time(nullptr) + 7'200);
  TlsPair pair(open_server(parts.server_options()), client_context);
  pair.shake_hands();
  EXPECT_EQ(pair.client_outcome, StreamOutcome::broken);
  EXPECT_THAT(pair.client->error().message, HasSubstr("it has ended: have its issuer make"));
}

TEST(TlsStream, SendsItsChainAndTrustsTheRootAlone) {
  TlsParts parts;
  const auto middle = parts.authority.issue_authority("middle");
  CertificateRequest request;
  request.alternative_names = "DNS:node-1.example";
  const auto own = middle.issue(request);
  const auto options = parts.server_options();
  parts.write("server", own);
  TlsPair without(open_server(options), open_client(parts.client_options()));
  without.shake_hands();
  EXPECT_EQ(without.client_outcome, StreamOutcome::broken);
  write_file(options.certificate, own.certificate_pem() + middle.certificate_pem(), 0644);
  TlsPair with(open_server(options), open_client(parts.client_options()));
  with.shake_hands();
  EXPECT_TRUE(with.both_open()) << with.client->error().message;
}

TEST(TlsStream, NewContextsAreForNewStreamsOnly) {
  TlsParts parts;
  const auto options = parts.server_options();
  auto context = open_server(options);
  TlsPair old(context, open_client(parts.client_options()));
  old.shake_hands();
  ASSERT_TRUE(old.both_open());
  CertificateRequest other;
  other.alternative_names = "DNS:node-2.example";
  parts.write("server", parts.authority.issue(other));
  context = open_server(options);
  TlsPair fresh(context, open_client(parts.client_options()), "node-2.example");
  fresh.shake_hands();
  EXPECT_TRUE(fresh.both_open());
  say(*old.client, "still here");
  EXPECT_EQ(hear(*old.server), "still here");
}

TEST(TlsStream, TakesLongGatherListsInParts) {
  const TlsParts parts;
  TlsPair pair(open_server(parts.server_options()), open_client(parts.client_options()));
  pair.shake_hands();
  ASSERT_TRUE(pair.both_open());
  std::vector<std::string> texts;
  std::string expected;
  for (std::size_t i = 0; i < 300; ++i) {
    texts.emplace_back(i * 37 % 3'000, static_cast<char>('a' + i % 26));
    expected += texts.back();
  }
  std::string heard;
  std::size_t sent = 0;
  while (sent < expected.size() || pair.server->has_unsent()) {
    std::vector<ByteView> chunks;
    std::size_t skip = sent;
    for (const auto& text : texts) {
      const ByteView bytes = as_bytes_view(text);
      chunks.push_back(bytes.subspan(std::min(skip, bytes.size())));
      skip -= std::min(skip, bytes.size());
    }
    chunks.erase(
        std::remove_if(chunks.begin(), chunks.end(), [](ByteView chunk) { return chunk.empty(); }),
        chunks.end());
    sent += pair.server->write(chunks).bytes;
    heard += hear(*pair.client, 7'777);
  }
  for (std::string got; !(got = hear(*pair.client, 7'777)).empty();) heard += got;
  EXPECT_TRUE(heard == expected);
}

TEST(TlsStream, BlocksWithBoundedMemoryWhenThePeerDoesNotRead) {
  const TlsParts parts;
  TlsPair pair(open_server(parts.server_options()), open_client(parts.client_options()));
  pair.shake_hands();
  ASSERT_TRUE(pair.both_open());
  const std::string block(100'000, 'x');
  std::size_t taken = 0;
  Transfer put;
  do {
    put = say(*pair.server, block);
    taken += put.bytes;
  } while (put.bytes > 0);
  EXPECT_EQ(put.outcome, StreamOutcome::blocked);
  EXPECT_TRUE(pair.server->has_unsent());
  EXPECT_LT(taken, 1U << 20);  // the socket's buffer and 64 KiB in the stream
  std::size_t heard = 0;
  while (heard < taken) {
    const std::string got = hear(*pair.client);
    heard += got.size();
    pair.server->flush();
    EXPECT_EQ(got, std::string(got.size(), 'x'));
  }
  EXPECT_FALSE(pair.server->has_unsent());
}

TEST(TlsStream, EndsInOrderWithANoticeAndElseSaysThatItWasCutOff) {
  const TlsParts parts;
  for (const bool polite : {true, false}) {
    TlsPair pair(open_server(parts.server_options()), open_client(parts.client_options()));
    pair.shake_hands();
    ASSERT_TRUE(pair.both_open());
    say(*pair.client, "last words");
    if (polite) {
      EXPECT_EQ(pair.client->finish_writing(), StreamOutcome::ok);
    } else {
      pair.client.reset();
    }
    EXPECT_EQ(hear(*pair.server), "last words");
    EXPECT_EQ(listen_to(*pair.server), polite ? StreamOutcome::end : StreamOutcome::broken);
    if (polite) {
      say(*pair.server, "answer");
      EXPECT_EQ(hear(*pair.client), "answer");
    } else {
      EXPECT_THAT(pair.server->error().message, HasSubstr("cut off"));
      EXPECT_EQ(pair.server->error().code, Errc::closed);
    }
  }
}

/// A TLS server whose peer is a bare socket instead of a TLS client.
struct Intruder {
  explicit Intruder(const std::shared_ptr<const TlsContext>& context) {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()), 0);
    server = make_tls_server_stream(Fd(fds[0]), {}, context);
    wire = make_plain_stream(Fd(fds[1]), {});
  }
  std::unique_ptr<Stream> server;
  std::unique_ptr<Stream> wire;
};

TEST(TlsStream, RefusesWhatIsNoTls) {
  const TlsParts parts;
  const auto context = open_server(parts.server_options());
  struct Case {
    std::string bytes;
    std::string reason;
  };
  const Case cases[] = {
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "it does not speak TLS"},
      {"CONNECT x HTTP/1.1\r\n\r\n", "it does not speak TLS"},
      {std::string(64, '\0'), "it does not speak TLS"},
      {std::string(64, '\xff'), "it does not speak TLS"},
      {std::string("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", 10), "TLS: "},
      {std::string("\x16\x03\x01\xff\xff", 5) + std::string(1'000, 'x'), "TLS: "},
      {std::string("\x15\x03\x03\x00\x02\x02\x28", 7), "TLS: "},
      {std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x'), "TLS: "},
  };
  for (const auto& [bytes, reason] : cases) {
    const Intruder intruder(context);
    say(*intruder.wire, bytes);
    EXPECT_EQ(intruder.server->advance(), StreamOutcome::broken) << reason;
    EXPECT_THAT(intruder.server->error().message, HasSubstr(reason));
    EXPECT_EQ(intruder.server->advance(), StreamOutcome::broken);
  }
}

TEST(TlsStream, RefusesAHandshakeWithoutEnd) {
  const TlsParts parts;
  const Intruder intruder(open_server(parts.server_options()));
  // One handshake message of 16 MB, in records of 16 KB. The server must refuse it long before all
  // of it has come.
  std::string record = std::string("\x16\x03\x01\x40\x00\x01\xff\xff\xff\x03\x03", 11);
  record.resize(5 + (16U << 10), 'x');
  StreamOutcome outcome = StreamOutcome::blocked;
  std::size_t sent = 0;
  while (outcome == StreamOutcome::blocked && sent < (1U << 20)) {
    sent += say(*intruder.wire, record).bytes;
    outcome = intruder.server->advance();
  }
  EXPECT_EQ(outcome, StreamOutcome::broken);
  EXPECT_LT(sent, 256U << 10);
}

/// A client that uses OpenSSL directly, instead of Peal's client.
struct OddClient {
  OddClient(const TlsParts& parts, int fd, int version, const std::string& protocol)
      : context(open_client(parts.client_options())), ssl(SSL_new(context->get())) {
    SSL_set_min_proto_version(ssl, version);
    SSL_set_max_proto_version(ssl, version);
    const std::string wire = std::string(1, static_cast<char>(protocol.size())) + protocol;
    SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(wire.data()),
                        protocol.empty() ? 0 : static_cast<unsigned>(wire.size()));
    SSL_set_fd(ssl, fd);
    SSL_set_connect_state(ssl);
  }
  ~OddClient() { SSL_free(ssl); }
  std::shared_ptr<const TlsContext> context;
  SSL* ssl;
};

TEST(TlsStream, RefusesOlderVersionsAndOtherProtocols) {
  const TlsParts parts;
  const auto server = open_server(parts.server_options());
  struct Case {
    int version;
    std::string protocol;
    std::string reason;
  };
  const Case cases[] = {
      {TLS1_3_VERSION, "peal/1", ""},
      {TLS1_2_VERSION, "peal/1", "does not speak TLS 1.3"},
      {TLS1_3_VERSION, "http/1.1", "does not speak peal/1"},
      {TLS1_3_VERSION, "peal/2", "does not speak peal/1"},
      {TLS1_3_VERSION, "", "does not speak peal/1"},
  };
  for (const auto& [version, protocol, reason] : cases) {
    const Intruder intruder(server);
    const OddClient client(parts, intruder.wire->fd(), version, protocol);
    StreamOutcome outcome = StreamOutcome::blocked;
    for (int i = 0; i < 4 && outcome == StreamOutcome::blocked; ++i) {
      SSL_do_handshake(client.ssl);
      outcome = intruder.server->advance();
    }
    EXPECT_EQ(outcome, reason.empty() ? StreamOutcome::ok : StreamOutcome::broken)
        << version << protocol;
    EXPECT_THAT(intruder.server->error().message, HasSubstr(reason));
  }
}

TEST(TlsStream, SurvivesAHandshakeThatIsCutAnywhere) {
  const TlsParts parts;
  const auto server_context = open_server(parts.server_options());
  const auto client_context = open_client(parts.client_options());
  bool is_cut = true;
  std::size_t cut = 0;
  for (; is_cut; cut += cut < 64 ? 1 : 5) {
    // The test forwards at most `cut` bytes from the client to the server.
    std::array<int, 2> fds{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()), 0);
    const auto client = make_tls_client_stream(Fd(fds[0]), {}, client_context, "node-1.example");
    const auto client_wire = make_plain_stream(Fd(fds[1]), {});
    Intruder intruder(server_context);
    std::size_t passed = 0;
    is_cut = false;
    StreamOutcome outcome = StreamOutcome::blocked;
    for (int i = 0; i < 6 && !is_cut; ++i) {
      client->advance();
      const std::string flight = hear(*client_wire);
      const std::string part = flight.substr(0, cut - passed);
      is_cut = part.size() < flight.size();
      passed += part.size();
      say(*intruder.wire, part);
      outcome = intruder.server->advance();
      say(*client_wire, hear(*intruder.wire));
    }
    EXPECT_EQ(outcome, is_cut ? StreamOutcome::blocked : StreamOutcome::ok) << cut;
    intruder.wire.reset();
    if (!is_cut) continue;
    EXPECT_EQ(intruder.server->advance(), StreamOutcome::broken) << cut;
    EXPECT_EQ(intruder.server->error().code, Errc::closed) << cut;
  }
  EXPECT_GT(cut, 1'000U);
}

TEST(TlsStream, NoticesAnyChangedByteAfterTheHandshake) {
  const TlsParts parts;
  const auto server_context = open_server(parts.server_options());
  const auto client_context = open_client(parts.client_options());
  for (std::size_t at = 0; at < 32; ++at) {
    std::array<int, 2> fds{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()), 0);
    const auto client = make_tls_client_stream(Fd(fds[0]), {}, client_context, "node-1.example");
    const auto client_wire = make_plain_stream(Fd(fds[1]), {});
    const Intruder intruder(server_context);
    for (int i = 0; i < 6; ++i) {
      client->advance();
      say(*intruder.wire, hear(*client_wire));
      intruder.server->advance();
      say(*client_wire, hear(*intruder.wire));
    }
    ASSERT_EQ(intruder.server->advance(), StreamOutcome::ok);
    say(*client, "0123456789");
    std::string record = hear(*client_wire);
    ASSERT_EQ(record.size(), 5U + 10 + 1 + 16);  // header, text, content type, tag
    record[at] = static_cast<char>(record[at] ^ 0x01);
    say(*intruder.wire, record);
    intruder.wire->finish_writing();
    std::array<std::byte, 64> buffer{};
    const Transfer got = intruder.server->read(buffer);
    EXPECT_EQ(got.bytes, 0U) << at;
    EXPECT_EQ(got.outcome, StreamOutcome::broken) << at;
  }
}

}  // namespace
}  // namespace peal::io
