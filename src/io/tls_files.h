// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/error.h"

// Reads certificates and keys from files. Errors name the file, the reason and the remedy.

namespace peal::io {

struct FreeX509 {
  void operator()(X509* certificate) const { ::X509_free(certificate); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
};
using CertificatePtr = std::unique_ptr<X509, FreeX509>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeKey>;

/// Maximum number of bytes of a file.
inline constexpr std::size_t kTlsFileBytesMax = 1U << 20;

/// The certificates in a PEM file, at least one. The file must belong to this user or to root, and
/// no other user may write to it. Errors: invalid_option, not_permitted, system; each begins with
/// the path in quotes.
Result<std::vector<CertificatePtr>, IoError> load_certificates(const std::string& path);

/// The private key in a PEM file without a passphrase. The rules and errors of load_certificates()
/// apply. In addition, no other user may read the file. Exception: the group may read a file that
/// belongs to root (mode 0640).
Result<KeyPtr, IoError> load_private_key(const std::string& path);

/// Refuses a certificate that is not valid now; the error names its file, `path`.
Result<void, IoError> check_dates(const std::string& path, X509* certificate);

/// The name by which access rules know a certificate: its first URI, otherwise its first DNS name
/// (both of subjectAltName), otherwise its only common name. Nothing if that name is not 1 to 256
/// printable ASCII characters, because names with other characters may look the same.
std::optional<std::string> certificate_name(X509* certificate);

/// When the certificate expires, in seconds since 1970.
std::int64_t expiry_of(X509* certificate);

/// OpenSSL's text for the oldest error in its queue; clears the queue.
std::string openssl_reason();

}  // namespace peal::io
