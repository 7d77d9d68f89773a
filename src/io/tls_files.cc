// SPDX-License-Identifier: Apache-2.0
#include "io/tls_files.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/text.h"
#include "io/fd.h"

namespace peal::io {
namespace {

enum class Use { open_to_all, secret };

struct FreeBio {
  void operator()(BIO* bio) const { ::BIO_free_all(bio); }
};
using BioPtr = std::unique_ptr<BIO, FreeBio>;

/// Text that the destructor wipes from memory.
struct Wiped {
  std::string text;
  Wiped() = default;
  Wiped(Wiped&& other) noexcept : text(std::exchange(other.text, {})) {}
  Wiped& operator=(Wiped&&) = delete;
  ~Wiped() { ::OPENSSL_cleanse(text.data(), text.size()); }
};

Unexpected<IoError> refuse_file(const std::string& path, const std::string& why,
                                Errc code = Errc::invalid_option) {
  return unexpected(IoError{code, quote(path) + ": " + why});
}

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

/// The problem with a file's owner or mode; empty if there is none.
std::string wrong_rights(const std::string& path, const struct stat& status, Use use) {
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return "belongs to uid " + std::to_string(status.st_uid) +
           ": accepted is a file of this user (uid " + std::to_string(::geteuid()) +
           ") or of root; chown it";
  }
  const mode_t readable_by_group = status.st_uid == 0 ? 0040 : 0;
  const mode_t refused = use == Use::secret ? 0077 & ~readable_by_group : 0022;
  if ((status.st_mode & refused) == 0) return {};
  if (use == Use::secret) {
    return "others than its owner may use it (mode " + octal(status.st_mode) + "): chmod 600 " +
           path;
  }
  return "others than its owner may change it (mode " + octal(status.st_mode) + "): chmod go-w " +
         path;
}

Result<Wiped, IoError> read_checked(const std::string& path, Use use) {
  // O_NONBLOCK: opening a pipe must not block.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return unexpected(system_error(quote(path) + ": cannot be read", errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return unexpected(system_error(quote(path) + ": cannot be read", errno));
  }
  if (!S_ISREG(status.st_mode)) return refuse_file(path, "is no file: accepted is a PEM file");
  if (auto wrong = wrong_rights(path, status, use); !wrong.empty()) {
    return refuse_file(path, wrong, Errc::not_permitted);
  }
  Wiped content;
  // Full size at once, because a growing string would leave secrets in its old memory.
  content.text.resize(kTlsFileBytesMax + 1);
  std::size_t count = 0;
  while (count < content.text.size()) {
    const ssize_t got = ::read(fd.get(), content.text.data() + count, content.text.size() - count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unexpected(system_error(quote(path) + ": cannot be read", errno));
    if (got == 0) break;
    count += static_cast<std::size_t>(got);
  }
  if (count > kTlsFileBytesMax) {
    return refuse_file(path, "is longer than " + std::to_string(kTlsFileBytesMax) +
                                 " bytes: accepted is a PEM file");
  }
  content.text.resize(count);
  return content;
}

BioPtr reader_of(const Wiped& content) {
  return BioPtr(::BIO_new_mem_buf(content.text.data(), static_cast<int>(content.text.size())));
}

/// Gives OpenSSL no passphrase, so that it never asks for one on a terminal. Sets `asked`.
int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

std::string to_text(const ASN1_TIME* time) {
  const BioPtr text(::BIO_new(::BIO_s_mem()));
  if (text == nullptr || time == nullptr || ::ASN1_TIME_print(text.get(), time) != 1) return "?";
  char* data = nullptr;
  const long size = ::BIO_get_mem_data(text.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

bool is_printable(std::string_view name) {
  return !name.empty() && name.size() <= 256 &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::optional<std::string> printable(const ASN1_STRING* string) {
  unsigned char* bytes = nullptr;
  const int size = ::ASN1_STRING_to_UTF8(&bytes, string);
  if (size < 0) return std::nullopt;
  std::string name(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  ::OPENSSL_free(bytes);
  if (!is_printable(name)) return std::nullopt;
  return name;
}

/// The first alternative name of `type`; null if there is none.
const ASN1_STRING* first_of(const GENERAL_NAMES* names, int type) {
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type == type) return name->d.ia5;  // URI and DNS names are both in d.ia5
  }
  return nullptr;
}

}  // namespace

std::string openssl_reason() {
  const unsigned long number = ::ERR_get_error();
  const char* text = ::ERR_reason_error_string(number);
  ::ERR_clear_error();
  return text != nullptr ? text : "no reason given (" + std::to_string(number) + ")";
}

Result<std::vector<CertificatePtr>, IoError> load_certificates(const std::string& path) {
  const auto content = read_checked(path, Use::open_to_all);
  if (!content) return unexpected(content.error());
  const BioPtr reader = reader_of(*content);
  std::vector<CertificatePtr> certificates;
  ::ERR_clear_error();
  while (reader != nullptr) {
    CertificatePtr next(::PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
    if (next == nullptr) break;
    certificates.push_back(std::move(next));
  }
  const unsigned long number = ::ERR_peek_last_error();
  ::ERR_clear_error();
  if (ERR_GET_LIB(number) == ERR_LIB_PEM && ERR_GET_REASON(number) == PEM_R_NO_START_LINE &&
      !certificates.empty()) {
    return certificates;
  }
  if (certificates.empty() && ERR_GET_REASON(number) == PEM_R_NO_START_LINE) {
    return refuse_file(path,
                       "has no certificate: accepted is a PEM file with -----BEGIN CERTIFICATE");
  }
  return refuse_file(path, "certificate " + std::to_string(certificates.size() + 1) +
                               " is damaged: copy the file again, as its issuer wrote it");
}

Result<KeyPtr, IoError> load_private_key(const std::string& path) {
  const auto content = read_checked(path, Use::secret);
  if (!content) return unexpected(content.error());
  const BioPtr reader = reader_of(*content);
  bool asked = false;
  ::ERR_clear_error();
  KeyPtr key(reader == nullptr
                 ? nullptr
                 : ::PEM_read_bio_PrivateKey(reader.get(), nullptr, no_passphrase, &asked));
  ::ERR_clear_error();
  if (key != nullptr) return key;
  if (asked) {
    return refuse_file(path,
                       "needs a passphrase: accepted is a key without one; write it with "
                       "`openssl pkey -in " +
                           path + "`");
  }
  if (content->text.find("PRIVATE KEY-----") == std::string::npos) {
    return refuse_file(path,
                       "has no private key: accepted is a PEM file with -----BEGIN PRIVATE KEY");
  }
  return refuse_file(path, "its private key is damaged: copy the file again");
}

Result<void, IoError> check_dates(const std::string& path, X509* certificate) {
  const ASN1_TIME* begin = ::X509_get0_notBefore(certificate);
  const ASN1_TIME* end = ::X509_get0_notAfter(certificate);
  if (::X509_cmp_current_time(begin) >= 0) {
    return refuse_file(path, "the certificate is not valid before " + to_text(begin) +
                                 ": check the clock of this machine, or take an older one");
  }
  if (::X509_cmp_current_time(end) <= 0) {
    return refuse_file(
        path, "the certificate ended " + to_text(end) + ": have its issuer make a new one");
  }
  return {};
}

std::optional<std::string> certificate_name(X509* certificate) {
  struct FreeNames {
    void operator()(GENERAL_NAMES* names) const { ::GENERAL_NAMES_free(names); }
  };
  const std::unique_ptr<GENERAL_NAMES, FreeNames> names(static_cast<GENERAL_NAMES*>(
      ::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (const int type : {GEN_URI, GEN_DNS}) {
    if (const ASN1_STRING* name = names ? first_of(names.get(), type) : nullptr) {
      return printable(name);
    }
  }
  X509_NAME* subject = ::X509_get_subject_name(certificate);
  const int at = ::X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || ::X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return std::nullopt;
  return printable(::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(subject, at)));
}

std::int64_t expiry_of(X509* certificate) {
  tm parts{};
  if (::ASN1_TIME_to_tm(::X509_get0_notAfter(certificate), &parts) != 1) return 0;
  return ::timegm(&parts);
}

}  // namespace peal::io
