// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/stream.h"

struct ssl_ctx_st;

namespace peal::io {

/// The protocol that both sides must agree on inside TLS (ALPN).
inline constexpr std::string_view kTlsProtocol = "peal/1";

enum class ClientCertificates : std::uint8_t {
  none,      ///< not requested
  optional,  ///< verified if present; a client without certificate is StreamPeer::Kind::unknown
  required,
};

struct TlsServerOptions {
  std::string certificate;  ///< path of a PEM file: the server's certificate, then its issuers'
  std::string key;          ///< path of a PEM file
  ClientCertificates clients = ClientCertificates::none;
  std::string client_ca;  ///< path of a PEM file; needed unless `clients` is none
};

struct TlsClientOptions {
  std::string ca;           ///< path of a PEM file, or empty for the system's trusted authorities
  std::string certificate;  ///< path of the client's certificate, which needs `key`; may be empty
  std::string key;
};

/// Keys, certificates and rules of TLS. They are read once. To read them again, make another
/// context and give it to new streams. TLS 1.3 only; no tickets, no early data. Thread: any;
/// streams may share a context.
class TlsContext {
 public:
  /// Errors: invalid_option, not_permitted, system. Each error about a file begins with the path in
  /// quotes, and names the problem and the remedy: the file cannot be read, has the wrong owner or
  /// mode (tls_files.h), is no PEM file, has expired, or does not match the key.
  static Result<std::shared_ptr<const TlsContext>, IoError> server(const TlsServerOptions& options);
  static Result<std::shared_ptr<const TlsContext>, IoError> client(const TlsClientOptions& options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  /// When this side's own certificate expires, in seconds since 1970; 0 without a certificate.
  std::int64_t expires() const { return expires_; }
  ssl_ctx_st* get() const { return context_; }

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  Result<void, IoError> use_own(const std::string& certificate, const std::string& key);
  Result<void, IoError> trust(const std::string& ca);

  ssl_ctx_st* context_;
  std::int64_t expires_ = 0;
};

/// The server's side of an accepted connection. The stream's peer becomes Kind::certificate if the
/// client presents a certificate.
std::unique_ptr<Stream> make_tls_server_stream(Fd fd, StreamPeer peer,
                                               const std::shared_ptr<const TlsContext>& context);

/// The client's side of a connection that is connected or connecting (connect_tcp). The server's
/// certificate must be for `server`: a host name, or an IP address.
std::unique_ptr<Stream> make_tls_client_stream(Fd fd, StreamPeer peer,
                                               const std::shared_ptr<const TlsContext>& context,
                                               const std::string& server);

}  // namespace peal::io
