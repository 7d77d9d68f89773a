// SPDX-License-Identifier: Apache-2.0
#include "io/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "certificates.h"
#include "site.h"

// A client on another machine identifies itself by a certificate or a secret.

namespace peal::daemon::test {
namespace {

using testing::HasSubstr;
using wire::ClientCode;

class Tls : public testing::Test {
 protected:
  Tls() {
    io::CertificateRequest server;
    server.alternative_names = "DNS:node-1.example";
    write("server", authority_.issue(server));
    io::CertificateRequest client;
    client.common_name = "alice";
    write("alice", authority_.issue(client));
    client.common_name = "mallory";
    write("mallory", authority_.issue(client));
    write("stranger", io::TestCertificate::authority("others").issue(client));
    io::write_file(file("ca.pem"), authority_.certificate_pem(), 0644);

    Options options = options_of(folder_, 1, 1);
    const auto id = static_cast<std::uint32_t>(::getpid());
    at_ = io::endpoint_of(options.member.nodes[0].address)
              ->with_port(static_cast<std::uint16_t>(20'000 + id % 10'000));
    options.tls.emplace();
    options.tls->at = at_;
    options.tls->tls = {file("server.pem"), file("server.key"), io::ClientCertificates::optional,
                        file("ca.pem")};
    session::ClientRule alice;
    alice.who = {session::Who::Kind::certificate, 0, "alice"};
    session::ClientRule knows_it;
    knows_it.who = {session::Who::Kind::secret, 0, "open sesame, please"};
    options.sessions.clients = {alice, knows_it};
    options_ = options;
    site_ = std::make_unique<Site>(options);
  }

  std::string file(const std::string& name) const { return folder_.path() + "/" + name; }
  void write(const std::string& name, const io::TestCertificate& certificate) {
    io::write_file(file(name + ".pem"), certificate.certificate_pem(), 0644);
    io::write_file(file(name + ".key"), certificate.key_pem(), 0600);
  }
  /// A client with the certificate `name`, or without a certificate if `name` is empty.
  std::unique_ptr<Client> client(const std::string& name,
                                 const std::string& server = "node-1.example") {
    const bool none = name.empty();
    auto context = io::TlsContext::client(
        {file("ca.pem"), none ? "" : file(name + ".pem"), none ? "" : file(name + ".key")});
    EXPECT_TRUE(context) << context.error().message;
    auto fd = io::connect_tcp(at_);
    EXPECT_TRUE(fd) << fd.error().message;
    return std::make_unique<Client>(
        io::make_tls_client_stream(std::move(*fd), {}, *context, server));
  }

  Folder folder_;
  io::TestCertificate authority_ = io::TestCertificate::authority();
  io::Endpoint at_;
  Options options_;
  std::unique_ptr<Site> site_;
};

TEST_F(Tls, ACertificateOpensTheDoor) {
  auto alice = client("alice");
  alice->greet(hello_as("alice"));
  ASSERT_TRUE(alice->is_welcome()) << alice->broken();
  EXPECT_GT(alice->welcome().ping_ms, 0U) << "a connection that can be cut unnoticed needs pings";
  alice->join("g");
  const std::string text(200'000, 'x');  // several records of TLS
  alice->send("g", text);
  EXPECT_EQ(alice->message(), text);
}

TEST_F(Tls, AnotherCertificateDoesNot) {
  auto mallory = client("mallory");
  mallory->say(hello_as("alice"));
  EXPECT_EQ(mallory->closing().first, ClientCode::not_permitted);
}

TEST_F(Tls, ASecretOpensItToo) {
  wire::Hello hello = hello_as("bob");
  hello.secret = "open sesame, please";
  auto bob = client("");
  bob->greet(hello);
  EXPECT_TRUE(bob->is_welcome());
  hello.secret = "open sesame, pleasE";
  auto other = client("");
  other->say(hello);
  const auto [code, text] = other->closing();
  EXPECT_TRUE(code == ClientCode::bad_secret || code == ClientCode::not_permitted) << text;
}

TEST_F(Tls, AForeignCertificateDoesNotComeIn) {
  auto stranger = client("stranger");
  stranger->say(hello_as("alice"));
  EXPECT_EQ(stranger->next(), std::nullopt);
  EXPECT_NE(stranger->broken(), "");
}

TEST_F(Tls, AClientRefusesADaemonOfAnotherName) {
  EXPECT_THAT(client("alice", "node-2.example")->broken(), HasSubstr("it is for another name"));
}

TEST_F(Tls, NewCertificatesAreTakenWithoutARestart) {
  // reconfigure() connects through the Unix socket, so a rule must admit clients there.
  options_.sessions.clients.push_back({});
  options_.sessions.clients.back().admin = true;
  // The old rules admit no client at the Unix socket, so the new rule needs a restarted daemon.
  site_.reset();
  site_ = std::make_unique<Site>(options_);
  auto before = client("alice");
  before->greet(hello_as("alice"));
  ASSERT_TRUE(before->is_welcome());
  io::CertificateRequest renewed;
  renewed.alternative_names = "DNS:renewed.example";
  write("server", authority_.issue(renewed));
  ASSERT_TRUE(site_->reconfigure(options_));
  auto after = client("alice", "renewed.example");
  after->greet(hello_as("alice-2"));
  EXPECT_TRUE(after->is_welcome()) << after->broken();
  before->send("#alice#n1", "still here");
  EXPECT_EQ(before->message(), "still here");

  io::write_file(file("server.key"), "no key", 0600);
  EXPECT_FALSE(site_->reconfigure(options_)) << "and nothing has changed";
  auto again = client("alice", "renewed.example");
  again->greet(hello_as("alice-3"));
  EXPECT_TRUE(again->is_welcome()) << again->broken();
}

TEST_F(Tls, ARefusedReloadLeavesTheOldCertificatesInUse) {
  options_.sessions.clients.push_back({});
  options_.sessions.clients.back().admin = true;
  site_.reset();
  site_ = std::make_unique<Site>(options_);
  io::CertificateRequest renewed;
  renewed.alternative_names = "DNS:renewed.example";
  write("server", authority_.issue(renewed));
  options_.socket_mode = 0666;
  EXPECT_FALSE(site_->reconfigure(options_, [this] { std::filesystem::remove(site_->socket()); }));
  EXPECT_THAT(site_->refused(), HasSubstr("chmod"));
  auto alice = client("alice", "node-1.example");
  alice->greet(hello_as("alice"));
  EXPECT_TRUE(alice->is_welcome()) << alice->broken();
}

}  // namespace
}  // namespace peal::daemon::test
