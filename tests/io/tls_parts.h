// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "certificates.h"
#include "io/tls.h"
#include "temp_dir.h"

namespace peal::io {

/// An authority, and the certificates that it issued for a server and a client, all in files.
class TlsParts {
 public:
  TlsParts() {
    CertificateRequest server;
    server.alternative_names = "DNS:node-1.example,IP:127.0.0.1";
    write("server", authority.issue(server));
    CertificateRequest client;
    client.common_name = "alice";
    write("client", authority.issue(client));
    write_file(dir / "ca.pem", authority.certificate_pem(), 0644);
  }
  /// Writes NAME.pem and NAME.key.
  void write(const std::string& name, const TestCertificate& certificate) {
    write_file(dir / (name + ".pem"), certificate.certificate_pem(), 0644);
    write_file(dir / (name + ".key"), certificate.key_pem(), 0600);
  }

  TlsServerOptions server_options(ClientCertificates clients = ClientCertificates::required) const {
    return {dir / "server.pem", dir / "server.key", clients, dir / "ca.pem"};
  }
  TlsClientOptions client_options() const {
    return {dir / "ca.pem", dir / "client.pem", dir / "client.key"};
  }
  TlsClientOptions nameless_client_options() const { return {dir / "ca.pem", "", ""}; }

  TempDir dir;
  TestCertificate authority = TestCertificate::authority();
};

inline std::shared_ptr<const TlsContext> open_server(const TlsServerOptions& options) {
  auto context = TlsContext::server(options);
  EXPECT_TRUE(context.has_value()) << (context ? "" : context.error().message);
  return context ? *context : nullptr;
}

inline std::shared_ptr<const TlsContext> open_client(const TlsClientOptions& options) {
  auto context = TlsContext::client(options);
  EXPECT_TRUE(context.has_value()) << (context ? "" : context.error().message);
  return context ? *context : nullptr;
}

/// A server and a client at the ends of one connection.
struct TlsPair {
  TlsPair(const std::shared_ptr<const TlsContext>& server_context,
          const std::shared_ptr<const TlsContext>& client_context,
          const std::string& name = "node-1.example") {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()), 0);
    StreamPeer peer;
    peer.text = "10.0.0.7:51312";
    server = make_tls_server_stream(Fd(fds[0]), peer, server_context);
    client = make_tls_client_stream(Fd(fds[1]), peer, client_context, name);
  }
  /// Advances both sides in turn, often enough to complete the handshake.
  void shake_hands() {
    for (int i = 0; i < 10; ++i) {
      client_outcome = client->advance();
      server_outcome = server->advance();
    }
  }
  bool both_open() const {
    return server_outcome == StreamOutcome::ok && client_outcome == StreamOutcome::ok;
  }

  std::unique_ptr<Stream> server;
  std::unique_ptr<Stream> client;
  StreamOutcome server_outcome = StreamOutcome::blocked;
  StreamOutcome client_outcome = StreamOutcome::blocked;
};

}  // namespace peal::io
