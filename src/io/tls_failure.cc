// SPDX-License-Identifier: Apache-2.0
#include "io/tls_failure.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string>

#include "io/tls_files.h"

namespace peal::io {
namespace {

std::string distrust(long verdict) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "it has ended: have its issuer make a new one, or check the clock of this machine";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "it is not valid yet: check the clocks of both machines";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "it is for another name: connect by a name that stands in it (subjectAltName), or "
             "have one made for this name";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "its issuer is not one of those that are trusted here: name the issuer's certificate "
             "as ca, and see that the chain in between is sent along";
    case X509_V_ERR_INVALID_PURPOSE:
      return "it was made for another purpose (extendedKeyUsage): servers need serverAuth, clients "
             "clientAuth";
    default: return ::X509_verify_cert_error_string(verdict);
  }
}

/// A text for users in place of OpenSSL's text for developers; null if there is none.
const char* explain(int reason) {
  switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "one of the two does not speak TLS 1.3, which is needed";
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST: return "it does not speak TLS";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return "it has no certificate, which is needed here";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "it needs a certificate of us: name certificate and key";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "it does not trust the issuer of our certificate: have it name that issuer as ca, or "
             "take a certificate of an issuer that it trusts";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "our certificate has ended: have its issuer make a new one";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE: return "it does not accept our certificate";
    case SSL_R_NO_APPLICATION_PROTOCOL:
    case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
      return "it does not speak peal/1 inside TLS (ALPN): is it a client or daemon of Peal?";
    default: return nullptr;
  }
}

bool is_distrust(int reason) {
  return reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE ||
         reason == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED ||
         reason == SSL_R_TLSV1_ALERT_UNKNOWN_CA ||
         reason == SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED ||
         reason == SSL_R_SSLV3_ALERT_BAD_CERTIFICATE ||
         reason == SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN ||
         reason == SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE;
}

}  // namespace

IoError tls_failure(ssl_st* ssl, int code, HungUp hung_up) {
  const int reason = ERR_GET_REASON(::ERR_peek_error());
  const long verdict = ::SSL_get_verify_result(ssl);
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && verdict != X509_V_OK) {
    return {Errc::not_permitted, "its certificate is not accepted: " + distrust(verdict)};
  }
  if (code == SSL_ERROR_SSL && reason != SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    const char* text = explain(reason);
    return {is_distrust(reason) ? Errc::not_permitted : Errc::closed,
            text != nullptr ? text : "TLS: " + openssl_reason()};
  }
  if (hung_up == HungUp::in_handshake) return {Errc::closed, "it hung up during its handshake"};
  if (hung_up == HungUp::later) {
    return {Errc::closed, "it hung up in the middle: what it sent may be cut off"};
  }
  return {Errc::closed, "TLS: it asks and does not take the answers"};
}

}  // namespace peal::io
