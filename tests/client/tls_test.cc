// SPDX-License-Identifier: Apache-2.0
#include "io/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "certificates.h"
#include "fake_daemon.h"
#include "io/fd.h"

// Clients over TLS, with certificates created by the test.

namespace peal::client::test {
namespace {

using io::CertificateRequest;
using io::TestCertificate;
using testing::HasSubstr;
using v0::ErrorCode;

struct Tls : testing::Test {
  Tls() {
    std::string pattern = testing::TempDir() + "peal-tls-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    io::write_file(folder + "/ca", authority.certificate_pem(), 0644);
  }
  ~Tls() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const TestCertificate& certificate) const {
    io::write_file(folder + "/" + name, certificate.certificate_pem(), 0644);
    io::write_file(folder + "/" + name + ".key", certificate.key_pem(), 0600);
  }
  /// Starts a daemon with a certificate for `request`.
  void start(const CertificateRequest& request,
             io::ClientCertificates clients = io::ClientCertificates::none) {
    write("daemon", authority.issue(request));
    io::TlsServerOptions options;
    options.certificate = folder + "/daemon";
    options.key = folder + "/daemon.key";
    options.clients = clients;
    options.client_ca = folder + "/ca";
    auto context = io::TlsContext::server(options);
    ASSERT_TRUE(context) << context.error().message;
    daemon = std::make_unique<FakeDaemon>([context = *context](io::Fd fd) {
      return io::make_tls_server_stream(std::move(fd), {}, context);
    });
  }
  v0::ClientOptions options() const {
    v0::ClientOptions options = daemon->options();
    options.daemon = "tls://127.0.0.1:" + std::to_string(daemon->port());
    options.tls_ca = folder + "/ca";
    return options;
  }
  static CertificateRequest here() {
    CertificateRequest request;
    request.alternative_names = "IP:127.0.0.1,DNS:daemon.example";
    return request;
  }

  std::string folder;
  TestCertificate authority = TestCertificate::authority();
  std::unique_ptr<FakeDaemon> daemon;
};

TEST_F(Tls, AMessageGoesOutAndComesBackAcrossCuts) {
  start(here());
  auto client = v0::Client::connect(options());
  ASSERT_TRUE(client) << client.error().message;
  for (int i = 0; i < 5; ++i) {
    const std::string text(100 * static_cast<std::size_t>(i), 'x');
    ASSERT_TRUE(client->send({"chat"}, text));
    daemon->cut();
    while (auto event = client->wait(v0::kForever)) {
      const auto* message = std::get_if<v0::GroupMessage>(&*event);
      if (message == nullptr) continue;
      EXPECT_EQ(message->text(), text);
      break;
    }
  }
  ASSERT_TRUE(client->flush());
  client->close(v0::kForever);
  daemon->with([](ModelDaemon& model) { EXPECT_TRUE(model.goodbye); });
}

TEST_F(Tls, WhoCannotWriteAnyMoreReadsFirstWhy) {
  start(here());
  // The first write after the daemon hung up may succeed. Pings cause later writes, which fail.
  daemon->with([](ModelDaemon& model) { model.limits.ping_ms = 50; });
  auto slow = options();
  slow.receive_bytes_max = 1;
  auto client = v0::Client::connect(slow);
  ASSERT_TRUE(client) << client.error().message;
  daemon->with([](ModelDaemon& model) {
    model.kinds.clear();
    model.tell("a");
  });
  // The seen record may not be the last one, because a ping may follow it.
  daemon->wait_for([](ModelDaemon& model) {
    return std::find(model.kinds.begin(), model.kinds.end(), wire::RecordKind::seen) !=
           model.kinds.end();
  });
  daemon->with([](ModelDaemon& model) { model.close(wire::ClientCode::slow, "too slow"); });
  daemon->hang_up();
  while (client->status().connected) ignore(client->send({"chat"}, "x"), "until it notices");
  EXPECT_TRUE(std::holds_alternative<v0::GroupMessage>(*client->wait(v0::kForever)));
  const auto event = client->wait(v0::kForever);
  ASSERT_TRUE(event && std::holds_alternative<v0::Ended>(*event));
  EXPECT_EQ(std::get<v0::Ended>(*event).message, "too slow");
}

TEST_F(Tls, ACertificateForAnotherNameIsRefused) {
  CertificateRequest request;
  request.alternative_names = "DNS:somewhere.else";
  start(request);
  const auto client = v0::Client::connect(options());
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::untrusted) << client.error().message;
  EXPECT_THAT(client.error().message, HasSubstr("127.0.0.1"));
}

TEST_F(Tls, TheNameToLookForMayBeGiven) {
  start(here());
  auto named = options();
  named.tls_name = "daemon.example";
  EXPECT_TRUE(v0::Client::connect(named));
  named.tls_name = "other.example";
  EXPECT_EQ(v0::Client::connect(named).error().code, ErrorCode::untrusted);
}

TEST_F(Tls, ACertificateThatHasEndedIsRefused) {
  CertificateRequest request = here();
  request.begins_in_s = -7'200;
  request.ends_in_s = -3'600;
  write("ended", authority.issue(request));
  io::TlsServerOptions server;
  server.certificate = folder + "/ended";
  server.key = folder + "/ended.key";
  EXPECT_FALSE(io::TlsContext::server(server)) << "so that a daemon does not even start with it";
  auto ended = [&] {
    start(here());
    auto options = this->options();
    options.tls_certificate = folder + "/ended";
    options.tls_key = folder + "/ended.key";
    return v0::Client::connect(options);
  }();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::invalid_option);
  EXPECT_THAT(ended.error().message, HasSubstr("/ended"));
}

TEST_F(Tls, ADaemonThatNobodyVouchesForIsRefused) {
  start(here());
  const TestCertificate stranger = TestCertificate::authority("another authority");
  io::write_file(folder + "/other-ca", stranger.certificate_pem(), 0644);
  auto other = options();
  other.tls_ca = folder + "/other-ca";
  const auto client = v0::Client::connect(other);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::untrusted) << client.error().message;
}

TEST_F(Tls, AClientShowsItsCertificateWhereOneIsRequired) {
  start(here(), io::ClientCertificates::required);
  const auto without = v0::Client::connect(options());
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, ErrorCode::untrusted) << without.error().message;
  CertificateRequest ada;
  ada.common_name = "ada";
  write("ada", authority.issue(ada));
  auto with = options();
  with.tls_certificate = folder + "/ada";
  with.tls_key = folder + "/ada.key";
  EXPECT_TRUE(v0::Client::connect(with));
}

TEST_F(Tls, FilesThatCannotBeUsedAreNamed) {
  start(here());
  auto missing = options();
  missing.tls_ca = folder + "/none";
  EXPECT_THAT(v0::Client::connect(missing).error().message, HasSubstr("/none"));
  CertificateRequest ada;
  write("ada", authority.issue(ada));
  std::filesystem::permissions(folder + "/ada.key", std::filesystem::perms(0644));
  auto open_key = options();
  open_key.tls_certificate = folder + "/ada";
  open_key.tls_key = folder + "/ada.key";
  const auto client = v0::Client::connect(open_key);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::not_permitted);
  EXPECT_THAT(client.error().message, HasSubstr("ada.key"));
}

TEST_F(Tls, SomebodyWhoDoesNotSpeakTls) {
  start(here());
  auto plain = options();
  FakeDaemon other([](io::Fd fd) { return io::make_plain_stream(std::move(fd), {}); });
  other.with([](ModelDaemon& model) { model.forgives = true; });
  plain.daemon = "tls://127.0.0.1:" + std::to_string(other.port());
  plain.connect_timeout = std::chrono::milliseconds(100);
  const auto client = v0::Client::connect(plain);
  ASSERT_FALSE(client);
  EXPECT_NE(client.error().code, ErrorCode::system) << client.error().message;
}

}  // namespace
}  // namespace peal::client::test
