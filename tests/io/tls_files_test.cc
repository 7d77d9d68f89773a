// SPDX-License-Identifier: Apache-2.0
#include "io/tls_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "io/tls.h"
#include "tls_parts.h"

namespace peal::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Checks that these options are refused. The error must begin with the file, and must contain the
/// reason and the remedy.
void expect_refused(const TlsServerOptions& options, const std::string& file,
                    const std::string& reason, const std::string& remedy) {
  const auto context = TlsContext::server(options);
  ASSERT_FALSE(context.has_value()) << reason;
  EXPECT_THAT(context.error().message,
              AllOf(StartsWith("\"" + file), HasSubstr(reason), HasSubstr(remedy)));
}

TEST(TlsFiles, OpensAServerAndAClient) {
  const TlsParts parts;
  const auto server = open_server(parts.server_options());
  ASSERT_NE(server, nullptr);
  EXPECT_NEAR(static_cast<double>(server->expires()), static_cast<double>(::time(nullptr)) + 3'600,
              120);
  EXPECT_NE(open_client(parts.client_options()), nullptr);
  EXPECT_EQ(open_client(parts.nameless_client_options())->expires(), 0);
  EXPECT_NE(open_client({}), nullptr);  // trusts the system's authorities
}

TEST(TlsFiles, RefusesFilesThatAreNotThere) {
  const TlsParts parts;
  for (auto TlsServerOptions::*member :
       {&TlsServerOptions::certificate, &TlsServerOptions::key, &TlsServerOptions::client_ca}) {
    auto options = parts.server_options();
    options.*member = parts.dir / "none.pem";
    expect_refused(options, options.*member, "cannot be read", "No such file");
    options.*member = parts.dir.path();
    expect_refused(options, options.*member, "is no file", "accepted is a PEM file");
    options.*member = "";
    expect_refused(options, "", "cannot be read", "No such file");
  }
}

TEST(TlsFiles, RefusesAKeyThatOthersMayUse) {
  const TlsParts parts;
  const auto options = parts.server_options();
  for (const unsigned mode : {0604U, 0602U, 0601U, 0620U, 0610U, 0666U, 0644U}) {
    ASSERT_EQ(::chmod(options.key.c_str(), mode), 0);
    expect_refused(options, options.key, "others than its owner may use it (mode 0",
                   "chmod 600 " + options.key);
  }
  for (const unsigned mode : {0600U, 0400U}) {
    ASSERT_EQ(::chmod(options.key.c_str(), mode), 0);
    EXPECT_TRUE(TlsContext::server(options).has_value());
  }
  // If root owns the file, the file's group may read it, as with Debian's group ssl-cert.
  ASSERT_EQ(::chmod(options.key.c_str(), 0640), 0);
  EXPECT_EQ(TlsContext::server(options).has_value(), ::geteuid() == 0);
}

TEST(TlsFiles, RefusesCertificatesThatOthersMayChange) {
  const TlsParts parts;
  for (const auto& file : {parts.server_options().certificate, parts.server_options().client_ca}) {
    for (const unsigned mode : {0664U, 0646U}) {
      ASSERT_EQ(::chmod(file.c_str(), mode), 0);
      expect_refused(parts.server_options(), file, "may change it (mode 06", "chmod go-w " + file);
    }
    ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  }
}

TEST(TlsFiles, RefusesFilesOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TlsParts parts;
  const auto options = parts.server_options();
  for (const auto& file : {options.key, options.certificate, options.client_ca}) {
    ASSERT_EQ(::chown(file.c_str(), 12'345, 0), 0);
    expect_refused(options, file, "belongs to uid 12345", "chown it");
    ASSERT_EQ(::chown(file.c_str(), 0, 0), 0);
  }
}

TEST(TlsFiles, RefusesContentThatIsNoPem) {
  const TlsParts parts;
  const std::string good = parts.authority.certificate_pem();
  struct Case {
    std::string content;
    std::string reason;
  };
  std::string damaged = good;
  damaged[damaged.size() / 2] = '!';
  const Case cases[] = {
      {"", "has no certificate"},
      {"hello\n", "has no certificate"},
      {std::string(100, '\0'), "has no certificate"},
      {parts.authority.key_pem(), "has no certificate"},
      {damaged, "certificate 1 is damaged"},
      {good + damaged, "certificate 2 is damaged"},
      {good.substr(0, good.size() - 40), "certificate 1 is damaged"},
      {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
       "certificate 1 is damaged"},
      {std::string(kTlsFileBytesMax + 1, 'x'), "is longer than 1048576 bytes"},
  };
  for (const auto& [content, reason] : cases) {
    auto options = parts.server_options();
    options.client_ca = parts.dir / "odd.pem";
    write_file(options.client_ca, content, 0644);
    expect_refused(options, options.client_ca, reason, ":");
  }
  const std::string key = parts.authority.key_pem();
  const Case keys[] = {
      {"", "has no private key"},
      {good, "has no private key"},
      {key.substr(0, key.size() - 50), "is damaged"},
      {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "is damaged"},
      {parts.authority.key_pem("secret"), "needs a passphrase: accepted is a key without one"},
  };
  for (const auto& [content, reason] : keys) {
    auto options = parts.server_options();
    options.key = parts.dir / "odd.key";
    write_file(options.key, content, 0600);
    expect_refused(options, options.key, reason, ":");
  }
}

TEST(TlsFiles, RefusesAKeyOfAnotherCertificate) {
  const TlsParts parts;
  auto options = parts.server_options();
  options.key = parts.dir / "client.key";
  expect_refused(options, options.key, "is not the key of the first certificate in \"",
                 "that it was made for");
}

TEST(TlsFiles, RefusesCertificatesThatAreNotValidNow) {
  TlsParts parts;
  CertificateRequest ended;
  ended.ends_in_s = -10;
  parts.write("server", parts.authority.issue(ended));
  const auto options = parts.server_options();
  expect_refused(options, options.certificate, "the certificate ended ",
                 "have its issuer make a new one");
  CertificateRequest early;
  early.begins_in_s = 1'000;
  parts.write("server", parts.authority.issue(early));
  expect_refused(options, options.certificate, "is not valid before ", "check the clock");
}

TEST(TlsFiles, TakesAListOfAuthoritiesOfWhichSomeHaveEnded) {
  TlsParts parts;
  CertificateRequest ended;
  ended.ends_in_s = -10;
  const std::string old = parts.authority.issue(ended).certificate_pem();
  const auto options = parts.server_options();
  write_file(options.client_ca, old + parts.authority.certificate_pem(), 0644);
  EXPECT_TRUE(TlsContext::server(options).has_value());
  write_file(options.client_ca, old, 0644);
  expect_refused(options, options.client_ca, "the certificate ended ", "have its issuer");
}

TEST(TlsFiles, RefusesAWeakKey) {
  TlsParts parts;
  CertificateRequest weak;
  weak.rsa_bits = 1'024;
  parts.write("server", parts.authority.issue(weak));
  const auto options = parts.server_options();
  expect_refused(options, options.certificate, "ee key too small", "ECDSA key on P-256");
}

std::optional<std::string> name_with(const TestCertificate& authority, const std::string& common,
                                     const std::string& alternatives) {
  const TempDir dir;
  CertificateRequest request;
  request.common_name = common;
  request.alternative_names = alternatives;
  write_file(dir / "c.pem", authority.issue(request).certificate_pem(), 0600);
  const auto loaded = load_certificates(dir / "c.pem");
  EXPECT_TRUE(loaded.has_value());
  return certificate_name(loaded->front().get());
}

TEST(CertificateName, IsTheFirstUriThenDnsNameThenTheCommonName) {
  const auto authority = TestCertificate::authority();
  EXPECT_EQ(name_with(authority, "alice", "DNS:a.example,URI:spiffe://x/alice,URI:spiffe://y"),
            "spiffe://x/alice");
  EXPECT_EQ(name_with(authority, "alice", "IP:10.0.0.1,DNS:a.example,DNS:b.example"), "a.example");
  EXPECT_EQ(name_with(authority, "alice", "IP:10.0.0.1"), "alice");
  EXPECT_EQ(name_with(authority, "Alice B", ""), "Alice B");
}

TEST(CertificateName, IsNothingThatCouldLookLikeSomethingElse) {
  const auto authority = TestCertificate::authority();
  EXPECT_EQ(name_with(authority, "", ""), std::nullopt);
  EXPECT_EQ(name_with(authority, "alice\n", ""), std::nullopt);
  EXPECT_EQ(name_with(authority, std::string("alice\0bob", 9), ""), std::nullopt);
  EXPECT_EQ(name_with(authority,
                      "al\xc3\xad"
                      "ce",
                      ""),
            std::nullopt);
  // If the URI is refused, no other kind of name may be used instead.
  EXPECT_EQ(name_with(authority, "alice", "URI:\x01"), std::nullopt);
}

}  // namespace
}  // namespace peal::io
