// SPDX-License-Identifier: Apache-2.0
#include "io/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "io/tls_files.h"

namespace peal::io {
namespace {

constexpr std::array<unsigned char, 7> kAlpn{6, 'p', 'e', 'a', 'l', '/', '1'};
static_assert(kTlsProtocol == "peal/1");
constexpr int kChainMax = 4;  // maximum number of issuers between a certificate and a trusted one
constexpr long kChainBytesMax = 64L << 10;

Unexpected<IoError> refuse(const std::string& path, const std::string& why) {
  return unexpected(IoError{Errc::invalid_option, quote(path) + ": " + why});
}

IoError no_openssl() {
  return {Errc::system, "OpenSSL has no TLS 1.3 as Peal needs it: " + openssl_reason()};
}

int select_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  unsigned char* chosen = nullptr;
  const int answer =
      ::SSL_select_next_proto(&chosen, out_size, kAlpn.data(),
                              static_cast<unsigned int>(kAlpn.size()), offered, offered_size);
  *out = chosen;
  return answer == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// Makes a context with the settings that both sides share; null if OpenSSL fails.
SSL_CTX* new_context(const SSL_METHOD* method) {
  ::ERR_clear_error();
  SSL_CTX* context = ::SSL_CTX_new(method);
  if (context == nullptr) return nullptr;
  ::SSL_CTX_set_options(context,
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // An idle connection frees its buffers.
  ::SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_read_ahead(context, 1);
  ::SSL_CTX_set_verify_depth(context, kChainMax);
  ::SSL_CTX_set_max_cert_list(context, kChainBytesMax);
  // Two curves only, so that no peer can choose a slow one.
  if (::SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      ::SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
      ::SSL_CTX_set1_groups_list(context, "X25519:P-256") != 1 ||
      ::SSL_CTX_set_num_tickets(context, 0) != 1) {
    ::SSL_CTX_free(context);
    return nullptr;
  }
  return context;
}

int mode_of(ClientCertificates clients) {
  switch (clients) {
    case ClientCertificates::none: break;
    case ClientCertificates::optional: return SSL_VERIFY_PEER;
    case ClientCertificates::required: return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  }
  return SSL_VERIFY_NONE;
}

}  // namespace

TlsContext::~TlsContext() { ::SSL_CTX_free(context_); }

Result<std::shared_ptr<const TlsContext>, IoError> TlsContext::server(
    const TlsServerOptions& options) {
  SSL_CTX* raw = new_context(::TLS_server_method());
  if (raw == nullptr) return unexpected(no_openssl());
  const std::shared_ptr<TlsContext> context(new TlsContext(raw));
  if (auto own = context->use_own(options.certificate, options.key); !own) {
    return unexpected(own.error());
  }
  if (options.clients != ClientCertificates::none) {
    if (auto trusted = context->trust(options.client_ca); !trusted) {
      return unexpected(trusted.error());
    }
  }
  ::SSL_CTX_set_verify(raw, mode_of(options.clients), nullptr);
  ::SSL_CTX_set_alpn_select_cb(raw, select_protocol, nullptr);
  return context;
}

Result<std::shared_ptr<const TlsContext>, IoError> TlsContext::client(
    const TlsClientOptions& options) {
  SSL_CTX* raw = new_context(::TLS_client_method());
  if (raw == nullptr) return unexpected(no_openssl());
  const std::shared_ptr<TlsContext> context(new TlsContext(raw));
  if (!options.certificate.empty() || !options.key.empty()) {
    if (auto own = context->use_own(options.certificate, options.key); !own) {
      return unexpected(own.error());
    }
  }
  if (!options.ca.empty()) {
    if (auto trusted = context->trust(options.ca); !trusted) return unexpected(trusted.error());
  } else if (::SSL_CTX_set_default_verify_paths(raw) != 1) {
    return unexpected(no_openssl());
  }
  ::SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
  // Unlike most functions of OpenSSL, SSL_CTX_set_alpn_protos() returns 0 for success.
  if (::SSL_CTX_set_alpn_protos(raw, kAlpn.data(), static_cast<unsigned int>(kAlpn.size())) != 0) {
    return unexpected(no_openssl());
  }
  return context;
}

Result<void, IoError> TlsContext::use_own(const std::string& certificate, const std::string& key) {
  auto chain = load_certificates(certificate);
  if (!chain) return unexpected(chain.error());
  for (const auto& each : *chain) {
    if (auto valid = check_dates(certificate, each.get()); !valid) return valid;
  }
  const auto secret = load_private_key(key);
  if (!secret) return unexpected(secret.error());
  X509* own = chain->front().get();
  if (::X509_check_private_key(own, secret->get()) != 1) {
    ::ERR_clear_error();
    return refuse(key, "is not the key of the first certificate in " + quote(certificate) +
                           ": accepted are a certificate and the key that it was made for");
  }
  ::ERR_clear_error();
  if (::SSL_CTX_use_certificate(context_, own) != 1 ||
      ::SSL_CTX_use_PrivateKey(context_, secret->get()) != 1) {
    return refuse(certificate, "OpenSSL does not take it (" + openssl_reason() +
                                   "): accepted is, for one, an ECDSA key on P-256");
  }
  for (std::size_t i = 1; i < chain->size(); ++i) {
    if (::SSL_CTX_add1_chain_cert(context_, (*chain)[i].get()) != 1) {
      return refuse(certificate, "OpenSSL does not take certificate " + std::to_string(i + 1) +
                                     " (" + openssl_reason() + ")");
    }
  }
  expires_ = expiry_of(own);
  return {};
}

Result<void, IoError> TlsContext::trust(const std::string& ca) {
  const auto certificates = load_certificates(ca);
  if (!certificates) return unexpected(certificates.error());
  X509_STORE* store = ::SSL_CTX_get_cert_store(context_);
  bool valid_now = false;
  Result<void, IoError> dates;
  for (const auto& each : *certificates) {
    // One expired certificate in the list is no error, because OpenSSL accepts no signature by it.
    auto valid = check_dates(ca, each.get());
    valid_now = valid_now || valid.has_value();
    if (!valid) dates = std::move(valid);
    ::ERR_clear_error();
    if (::X509_STORE_add_cert(store, each.get()) != 1 ||
        ::SSL_CTX_add_client_CA(context_, each.get()) != 1) {
      return refuse(ca, "OpenSSL does not take it (" + openssl_reason() + ")");
    }
  }
  return valid_now ? Result<void, IoError>{} : dates;
}

}  // namespace peal::io
