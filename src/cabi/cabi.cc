// SPDX-License-Identifier: Apache-2.0
// Maps the C interface to the C++ interface; only names and types change here.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cabi/event.h"
#include "peal/client.h"
#include "peal/peal.h"

struct peal_client {
  explicit peal_client(peal::Client made) : client(std::move(made)) {}
  peal::Client client;
  peal::cabi::EventView view;
};

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kTargetsMax = 64;

/// The error of the last call that failed in this thread.
struct LastError {
  std::string text;
  std::int32_t reason = PEAL_REASON_NONE;
};
thread_local LastError last_error;

std::int32_t code_of(peal::ErrorCode code) { return -1 - static_cast<std::int32_t>(code); }

static_assert(-1 - static_cast<int>(peal::ErrorCode::would_block) == PEAL_WOULD_BLOCK);
static_assert(-1 - static_cast<int>(peal::ErrorCode::invalid_option) == PEAL_INVALID_OPTION);
static_assert(-1 - static_cast<int>(peal::ErrorCode::refused) == PEAL_REFUSED);
static_assert(-1 - static_cast<int>(peal::ErrorCode::wrong_version) == PEAL_WRONG_VERSION);
static_assert(static_cast<int>(peal::Reason::dropped) == PEAL_REASON_DROPPED);
static_assert(static_cast<int>(peal::Service::safe) == PEAL_SAFE);
static_assert(static_cast<int>(peal::SlowPolicy::evict) == PEAL_SLOW_EVICT);
static_assert(static_cast<int>(peal::ViewCause::network) == PEAL_CAUSE_NETWORK);
static_assert(std::variant_size_v<peal::ClientEvent> == PEAL_ENDED + 1);

std::int32_t fail(const peal::Error& error) {
  last_error.text = error.message;
  last_error.reason = static_cast<std::int32_t>(error.reason);
  return code_of(error.code);
}

std::int32_t wrong(const char* what) {
  return fail({peal::ErrorCode::invalid_option, what, peal::Reason::none});
}

/// The error of a call in a child of fork(), if the client belongs to the parent. Only such a
/// client has no descriptor and no name.
std::int32_t of_parent() {
  return fail({peal::ErrorCode::closed,
               "this client was made before fork(): open a new one in the child",
               peal::Reason::none});
}

milliseconds patience_of(std::int64_t ms) { return ms < 0 ? peal::kForever : milliseconds(ms); }

std::string string_of(const char* text) { return text == nullptr ? std::string() : text; }

/// Copies the options that both the program's header and the library's header have. The other
/// options of `to` keep their defaults. Returns false if `from->size` is not set.
template <class T>
bool take_options(const T* from, T& to) {
  if (from == nullptr) return true;
  if (from->size < sizeof from->size) return false;
  const std::size_t bytes = std::min<std::size_t>(from->size, sizeof to);
  std::memcpy(&to, from, bytes);
  return true;
}

/// The minimum size of a struct that the library fills for a program.
template <class T>
constexpr std::size_t kSizeMin = sizeof(T::size) + sizeof(std::int32_t);

/// Copies `made` to the program's struct `to`, which has `size` bytes. Fields of `to` that the
/// library does not know become 0.
template <class T>
void give(T& made, T* to, std::size_t size) {
  const std::size_t known = std::min(size, sizeof made);
  made.size = static_cast<std::uint32_t>(known);
  std::memcpy(to, &made, known);
  std::memset(reinterpret_cast<char*>(to) + known, 0, size - known);
}

template <class T>
std::int32_t status_of(const peal::Result<T>& result) {
  return result ? PEAL_OK : fail(result.error());
}

void copy_text(const std::string& from, char* to, std::size_t size) {
  if (size == 0) return;
  const std::size_t bytes = std::min(from.size(), size - 1);
  std::memcpy(to, from.data(), bytes);
  to[bytes] = '\0';
}

}  // namespace

uint32_t peal_version() { return PEAL_VERSION; }

// The parentheses prevent the expansion of the macros of these names.
void(peal_options_init)(peal_options* options) {
  peal_options_init_sized(options, sizeof *options);
}

void peal_options_init_sized(peal_options* options, size_t size) {
  if (options == nullptr || size < sizeof options->size) return;
  const peal::ClientOptions defaults;
  peal_options made{};
  made.size = static_cast<std::uint32_t>(std::min(size, sizeof made));
  made.connect_timeout_ms = static_cast<std::uint32_t>(defaults.connect_timeout.count());
  made.keep_ms = static_cast<std::uint32_t>(defaults.keep.count());
  made.receive_bytes_max = defaults.receive_bytes_max;
  std::memcpy(options, &made, made.size);
}

int32_t(peal_connect)(const peal_options* options, peal_client** out) {
  return peal_connect_from(options, out, PEAL_VERSION);
}

int32_t peal_connect_from(const peal_options* options, peal_client** out, uint32_t header) {
  if (out == nullptr) return wrong("out is NULL: it must point to a peal_client *");
  *out = nullptr;
  peal_options from{};
  peal_options_init(&from);
  if (!take_options(options, from)) return wrong("options.size is 0: call peal_options_init()");
  peal::ClientOptions to;
  if (from.daemon != nullptr) to.daemon = from.daemon;
  to.name = string_of(from.name);
  to.token = string_of(from.token);
  to.tls_ca = string_of(from.tls_ca);
  to.tls_certificate = string_of(from.tls_certificate);
  to.tls_key = string_of(from.tls_key);
  to.tls_name = string_of(from.tls_name);
  to.connect_timeout = milliseconds(from.connect_timeout_ms);
  to.keep = milliseconds(from.keep_ms);
  to.receive_bytes_max = from.receive_bytes_max;
  to.spin = std::chrono::microseconds(from.spin_us);
  auto made = peal::Client::connect(to, header);
  if (!made) return fail(made.error());
  *out = new peal_client(std::move(*made));
  return PEAL_OK;
}

int32_t peal_end(peal_client* client, int64_t patience_ms) {
  if (client == nullptr) return wrong("client is NULL");
  client->client.close(patience_of(patience_ms));
  return PEAL_OK;
}

void peal_close(peal_client* client, int64_t patience_ms) {
  if (client == nullptr) return;
  client->client.close(patience_of(patience_ms));
  delete client;
}

int32_t peal_join(peal_client* client, const char* group, const peal_join_options* options,
                  int64_t patience_ms) {
  if (client == nullptr || group == nullptr) return wrong("client or group is NULL");
  peal_join_options from{};
  if (!take_options(options, from)) return wrong("options.size is 0: set it to its sizeof");
  if (from.policy < PEAL_SLOW_NORMAL || from.policy > PEAL_SLOW_EVICT) {
    return wrong("options.policy is not a peal_slow_policy");
  }
  peal::JoinOptions to;
  to.policy = static_cast<peal::SlowPolicy>(from.policy);
  to.memory_bytes_max = from.memory_bytes_max;
  to.disk_bytes_max = from.disk_bytes_max;
  to.age_max = milliseconds(from.age_ms_max);
  return status_of(client->client.join(group, to, patience_of(patience_ms)));
}

int32_t peal_leave(peal_client* client, const char* group, int64_t patience_ms) {
  if (client == nullptr || group == nullptr) return wrong("client or group is NULL");
  return status_of(client->client.leave(group, patience_of(patience_ms)));
}

int64_t peal_send(peal_client* client, const char* const* targets, size_t target_count,
                  const void* payload, size_t payload_bytes, const peal_send_options* options,
                  int64_t patience_ms) {
  if (client == nullptr || targets == nullptr) return wrong("client or targets is NULL");
  if (payload == nullptr && payload_bytes > 0) return wrong("payload is NULL, and has bytes");
  if (target_count > kTargetsMax) return wrong("target_count is above 64");
  peal_send_options from{};
  from.service = PEAL_AGREED;
  if (!take_options(options, from)) return wrong("options.size is 0: set it to its sizeof");
  if (from.service < PEAL_FIFO || from.service > PEAL_SAFE) {
    return wrong("options.service is not a peal_service");
  }
  std::array<std::string_view, kTargetsMax> names;
  for (std::size_t i = 0; i < target_count; ++i) {
    if (targets[i] == nullptr) return wrong("a target is NULL");
    names[i] = targets[i];
  }
  peal::SendOptions to;
  to.service = static_cast<peal::Service>(from.service);
  to.type = from.type;
  to.self_discard = from.self_discard != 0;
  const auto sent = client->client.send_for({names.data(), target_count},
                                            {static_cast<const std::byte*>(payload), payload_bytes},
                                            patience_of(patience_ms), to);
  if (!sent) return fail(sent.error());
  return static_cast<int64_t>(sent.value().number);
}

int32_t peal_flush(peal_client* client, int64_t patience_ms) {
  if (client == nullptr) return wrong("client is NULL");
  return status_of(client->client.flush(patience_of(patience_ms)));
}

int32_t(peal_receive)(peal_client* client, peal_event* event, int64_t patience_ms) {
  return peal_receive_sized(client, event, sizeof *event, patience_ms);
}

int32_t peal_receive_sized(peal_client* client, peal_event* event, size_t size,
                           int64_t patience_ms) {
  if (client == nullptr || event == nullptr) return wrong("client or event is NULL");
  if (size < kSizeMin<peal_event>) return wrong("size is not that of a peal_event");
  auto next = client->client.wait(patience_of(patience_ms));
  if (next) {
    peal_event made{};
    client->view.show(std::move(*next), made);
    give(made, event, size);
    return 1;
  }
  const peal::ClientStatus status = client->client.status();
  if (status.ended && status.name.empty()) return of_parent();
  if (!status.ended || status.unread_events > 0) return 0;
  return fail(
      {peal::ErrorCode::closed, "the client has ended, and all was read", peal::Reason::none});
}

int peal_fd(const peal_client* client) {
  if (client == nullptr) return wrong("client is NULL");
  const int fd = client->client.fd();
  return fd >= 0 ? fd : of_parent();
}

int peal_room_fd(const peal_client* client) {
  if (client == nullptr) return wrong("client is NULL");
  const int fd = client->client.room_fd();
  return fd >= 0 ? fd : of_parent();
}

int64_t peal_ask(peal_client* client, const char* what, char* answer, size_t size,
                 int64_t patience_ms) {
  if (client == nullptr || what == nullptr) return wrong("client or what is NULL");
  if (answer == nullptr && size > 0) return wrong("answer is NULL, and has bytes");
  const auto text = client->client.ask(what, patience_of(patience_ms));
  if (!text) return fail(text.error());
  copy_text(text.value(), answer, size);
  return static_cast<int64_t>(text.value().size());
}

int32_t(peal_get_status)(const peal_client* client, peal_status* status) {
  return peal_get_status_sized(client, status, sizeof *status);
}

int32_t peal_get_status_sized(const peal_client* client, peal_status* status, size_t size) {
  if (client == nullptr || status == nullptr) return wrong("client or status is NULL");
  if (size < kSizeMin<peal_status>) return wrong("size is not that of a peal_status");
  const peal::ClientStatus from = client->client.status();
  peal_status made{};
  const bool of_child = from.ended && from.name.empty();
  if (!of_child) {
    copy_text(from.name, made.name, sizeof made.name);
    copy_text(from.node, made.node, sizeof made.node);
    copy_text(from.cluster, made.cluster, sizeof made.cluster);
    made.connected = from.connected ? 1 : 0;
    made.ended = from.ended ? 1 : 0;
    made.sent = from.sent;
    made.settled = from.settled;
    made.unread_events = from.unread_events;
    made.unread_bytes = from.unread_bytes;
    made.message_bytes_max = from.message_bytes_max;
  }
  give(made, status, size);
  return of_child ? of_parent() : PEAL_OK;
}

const char* peal_error_text(void) { return last_error.text.c_str(); }
int32_t peal_error_reason(void) { return last_error.reason; }

const char* peal_reason_name(int32_t reason) {
  if (reason < PEAL_REASON_NONE || reason > PEAL_REASON_SHUTDOWN) return "unknown";
  // The names are string literals, so they end in a zero byte.
  return peal::reason_name(static_cast<peal::Reason>(reason)).data();
}
