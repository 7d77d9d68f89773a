// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

// Certificates for tests. They are made when needed, because a certificate in the repository would
// expire.

namespace peal::io {

/// The content of a certificate.
struct CertificateRequest {
  std::string common_name = "node-1";
  std::string alternative_names;  ///< as openssl writes them: "DNS:localhost,IP:127.0.0.1"
  std::string usage;              ///< "serverAuth" or "clientAuth"; empty: any
  long begins_in_s = -3'600;      ///< seconds from now
  long ends_in_s = 3'600;
  int rsa_bits = 0;  ///< 0 means an ECDSA key on P-256
};

/// A certificate and its key. It can issue other certificates if it was made as an authority.
class TestCertificate {
 public:
  /// A self-signed certificate that may issue others.
  static TestCertificate authority(const std::string& common_name = "test authority");
  TestCertificate issue(const CertificateRequest& request) const;
  /// Issues a certificate that may issue others.
  TestCertificate issue_authority(const std::string& common_name) const;
  ~TestCertificate();
  TestCertificate(TestCertificate&&) noexcept;
  TestCertificate& operator=(TestCertificate&&) = delete;

  std::string certificate_pem() const;
  std::string key_pem() const;
  std::string key_pem(const std::string& passphrase) const;

 private:
  struct Parts;
  explicit TestCertificate(std::unique_ptr<Parts> parts);
  TestCertificate make(const CertificateRequest& request, bool is_authority) const;
  std::unique_ptr<Parts> parts_;
};

/// Writes a file with the permissions `mode`.
void write_file(const std::string& path, const std::string& content, unsigned mode);

}  // namespace peal::io
