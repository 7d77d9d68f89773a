// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "certificates.h"
#include "fake_daemon.h"
#include "in_child.h"
#include "io/fd.h"
#include "io/tls.h"
#include "temp_dir.h"

// After fork(), only the parent can use a client that the parent made before.

namespace peal::client::test {
namespace {

using v0::ErrorCode;

constexpr const char* kRemedy = "made before fork(): open a new one";

/// What is wrong with the answer to a call in a child; empty if the call was refused as it must be.
template <class T>
std::string wrong(const char* call, const Result<T>& answer) {
  if (answer) return std::string(call) + " did something; ";
  if (answer.error().code != ErrorCode::closed ||
      answer.error().message.find(kRemedy) == std::string::npos) {
    return std::string(call) + " said " + answer.error().message + "; ";
  }
  return {};
}

/// Calls every function of the parent's client in a child, and destroys the child's copy. Returns
/// the problems.
std::string use(v0::Client& client) {
  std::string problems;
  problems += wrong("join", client.join("chat"));
  problems += wrong("leave", client.leave("chat"));
  problems += wrong("send", client.send({"chat"}, "from the child"));
  problems += wrong("send_for", client.send_for({}, {}, v0::kForever));
  problems += wrong("flush", client.flush());
  problems += wrong("ask", client.ask("status"));
  const auto event = client.wait(v0::kForever);
  const auto* ended = event ? std::get_if<v0::Ended>(&*event) : nullptr;
  if (ended == nullptr || ended->on_request || ended->message.find(kRemedy) == std::string::npos) {
    problems += "wait() did not say that it has ended; ";
  }
  if (client.next() || client.wait(v0::kForever)) problems += "there is something behind the end; ";
  if (client.fd() >= 0 || client.room_fd() >= 0) problems += "it has descriptors; ";
  if (!client.status().ended) problems += "its status is that of the parent; ";
  client.close();
  { const v0::Client end(std::move(client)); }
  if (descriptors_of_kind("socket:") > 0) problems += "it has the parent's sockets; ";
  return problems;
}

/// Checks that the parent's session continues as if there had been no child.
void expect_talk(v0::Client& client, FakeDaemon& daemon) {
  ASSERT_TRUE(client.send({"chat"}, "from the parent"));
  ASSERT_TRUE(client.flush(std::chrono::seconds(60)));
  while (auto event = client.wait(std::chrono::seconds(60))) {
    ASSERT_FALSE(std::holds_alternative<v0::Disconnected>(*event));
    const auto* message = std::get_if<v0::GroupMessage>(&*event);
    if (message == nullptr) continue;
    EXPECT_EQ(message->text(), "from the parent");
    break;
  }
  daemon.with([](ModelDaemon& model) {
    EXPECT_FALSE(model.goodbye);
    EXPECT_EQ(model.hellos, 1U) << "it did not come back: it was never away";
  });
}

TEST(Fork, AClientStaysTheParents) {
  PEAL_NEEDS_FORK();
  FakeDaemon daemon;
  auto client = v0::Client::connect(daemon.options());
  ASSERT_TRUE(client) << client.error().message;
  ASSERT_TRUE(client->join("chat"));
  EXPECT_GE(client->fd(), 0);
  EXPECT_EQ(in_child([&] { return use(*client); }), "");
  EXPECT_EQ(in_child([&] {
              const std::string grandchild = in_child([&] { return use(*client); });
              return grandchild + use(*client);
            }),
            "");
  expect_talk(*client, daemon);
}

TEST(Fork, AChildMakesItsOwn) {
  PEAL_NEEDS_FORK();
  FakeDaemon daemon;
  auto first = v0::Client::connect(daemon.options());
  ASSERT_TRUE(first) << first.error().message;
  first->close();
  EXPECT_EQ(in_child([&]() -> std::string {
              FakeDaemon its;
              auto client = v0::Client::connect(its.options());
              if (!client) return client.error().message;
              if (!client->send({"chat"}, "hello")) return "it does not send";
              if (!client->flush(std::chrono::seconds(60))) return "nothing is settled";
              return {};
            }),
            "");
}

TEST(Fork, NothingIsLeftOfATlsSessionInTheChild) {
  PEAL_NEEDS_FORK();
  const TempDir folder;
  io::TestCertificate authority = io::TestCertificate::authority();
  io::CertificateRequest here;
  here.alternative_names = "IP:127.0.0.1";
  const io::TestCertificate its = authority.issue(here);
  io::write_file(folder.path() + "/ca", authority.certificate_pem(), 0644);
  io::write_file(folder.path() + "/daemon", its.certificate_pem(), 0644);
  io::write_file(folder.path() + "/daemon.key", its.key_pem(), 0600);
  io::TlsServerOptions options;
  options.certificate = folder.path() + "/daemon";
  options.key = folder.path() + "/daemon.key";
  auto context = io::TlsContext::server(options);
  ASSERT_TRUE(context) << context.error().message;
  FakeDaemon daemon([context = *context](io::Fd fd) {
    return io::make_tls_server_stream(std::move(fd), {}, context);
  });
  v0::ClientOptions to = daemon.options();
  to.daemon = "tls://127.0.0.1:" + std::to_string(daemon.port());
  to.tls_ca = folder.path() + "/ca";
  auto client = v0::Client::connect(to);
  ASSERT_TRUE(client) << client.error().message;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(in_child([&] { return use(*client); }), "");
    expect_talk(*client, daemon);
  }
}

TEST(Fork, WhateverOtherThreadsAreAbout) {
  PEAL_NEEDS_FORK();
  FakeDaemon daemon;
  auto client = v0::Client::connect(daemon.options());
  ASSERT_TRUE(client) << client.error().message;
  std::atomic<bool> stop{false};
  std::thread sends([&] {
    while (!stop) ignore(client->send({"chat"}, "x"), "full is as good");
  });
  std::thread reads([&] {
    while (!stop) ignore(client->wait(std::chrono::milliseconds(10)), "it only has to be busy");
  });
  std::string problems;
  for (int i = 0; i < 50; ++i) problems += in_child([&] { return use(*client); });
  stop = true;
  sends.join();
  reads.join();
  EXPECT_EQ(problems, "");
}

}  // namespace
}  // namespace peal::client::test
