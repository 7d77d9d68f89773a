// SPDX-License-Identifier: Apache-2.0
#include "certificates.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <utility>

namespace peal::io {
namespace {

std::string pem_of(const std::function<int(BIO*)>& write) {
  BIO* bio = BIO_new(BIO_s_mem());
  EXPECT_EQ(write(bio), 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  ASSERT_NE(extension, nullptr) << value;
  ASSERT_EQ(X509_add_ext(certificate, extension, -1), 1);
  X509_EXTENSION_free(extension);
}

/// A serial number that no other certificate of this process has.
long next_serial() {
  static long serial = 0;
  return ++serial;
}

}  // namespace

struct TestCertificate::Parts {
  X509* certificate = nullptr;
  EVP_PKEY* key = nullptr;
  ~Parts() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
};

TestCertificate::TestCertificate(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TestCertificate::TestCertificate(TestCertificate&&) noexcept = default;
TestCertificate::~TestCertificate() = default;

TestCertificate TestCertificate::authority(const std::string& common_name) {
  CertificateRequest request;
  request.common_name = common_name;
  return TestCertificate(nullptr).make(request, true);
}

TestCertificate TestCertificate::issue(const CertificateRequest& request) const {
  return make(request, false);
}

TestCertificate TestCertificate::issue_authority(const std::string& common_name) const {
  CertificateRequest request;
  request.common_name = common_name;
  return make(request, true);
}

/// Makes a certificate that this object signs, or a self-signed one if this object has no parts.
TestCertificate TestCertificate::make(const CertificateRequest& request, bool is_authority) const {
  auto parts = std::make_unique<Parts>();
  parts->key = request.rsa_bits == 0 ? EVP_EC_gen("P-256")
                                     : EVP_RSA_gen(static_cast<unsigned>(request.rsa_bits));
  parts->certificate = X509_new();
  X509* made = parts->certificate;
  const Parts& issuer = parts_ ? *parts_ : *parts;
  EXPECT_NE(parts->key, nullptr);
  X509_set_version(made, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made), next_serial());
  X509_gmtime_adj(X509_getm_notBefore(made), request.begins_in_s);
  X509_gmtime_adj(X509_getm_notAfter(made), request.ends_in_s);
  X509_set_pubkey(made, parts->key);
  if (!request.common_name.empty()) {
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(request.common_name.data()),
                               static_cast<int>(request.common_name.size()), -1, 0);
  }
  X509_set_issuer_name(made, X509_get_subject_name(issuer.certificate));
  add_extension(made, issuer.certificate, NID_basic_constraints,
                is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!request.alternative_names.empty()) {
    add_extension(made, issuer.certificate, NID_subject_alt_name, request.alternative_names);
  }
  if (!request.usage.empty()) {
    add_extension(made, issuer.certificate, NID_ext_key_usage, request.usage);
  }
  EXPECT_GT(X509_sign(made, issuer.key, EVP_sha256()), 0);
  return TestCertificate(std::move(parts));
}

std::string TestCertificate::certificate_pem() const {
  return pem_of([&](BIO* bio) { return PEM_write_bio_X509(bio, parts_->certificate); });
}

std::string TestCertificate::key_pem() const {
  return pem_of([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, parts_->key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string TestCertificate::key_pem(const std::string& passphrase) const {
  return pem_of([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, parts_->key, EVP_aes_256_cbc(),
                                    reinterpret_cast<const unsigned char*>(passphrase.data()),
                                    static_cast<int>(passphrase.size()), nullptr, nullptr);
  });
}

void write_file(const std::string& path, const std::string& content, unsigned mode) {
  std::ofstream(path, std::ios::binary) << content;
  ASSERT_EQ(::chmod(path.c_str(), mode), 0) << path;
}

}  // namespace peal::io
