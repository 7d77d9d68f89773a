// SPDX-License-Identifier: Apache-2.0
// Maps the public interface to this module; only names change here.

#include "wire/client.h"

#include <algorithm>
#include <utility>

#include "base/version.h"
#include "client/connected_session.h"
#include "client/event_reader.h"
#include "io/fork.h"

namespace peal {
inline namespace v0 {
namespace {

using Inner = client::ConnectedSession;

static_assert(static_cast<int>(ViewCause::network) == static_cast<int>(wire::ViewCause::network));
static_assert(static_cast<int>(SlowPolicy::evict) == static_cast<int>(wire::SlowPolicy::evict));
static_assert(static_cast<int>(Reason::bad_record) ==
              static_cast<int>(wire::ClientCode::bad_record));
static_assert(static_cast<int>(Reason::dropped) == static_cast<int>(wire::ClientCode::dropped));
static_assert(static_cast<int>(Reason::dropped) + 1 == wire::kClientCodes);

Inner::Deadline deadline_of(std::chrono::milliseconds patience) {
  // A century stands for an infinite time. Unlike kForever, it can be added to a time.
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365 * 100);
  const auto now = std::chrono::steady_clock::now();
  return patience <= std::chrono::milliseconds(0) ? now : now + std::min(patience, kLongest);
}

Error bad_limit(std::int64_t age_ms) {
  return {ErrorCode::invalid_option,
          "age_max is " + std::to_string(age_ms) + " ms: 0 to 4294967295"};
}

Error of_parent() {
  return {ErrorCode::closed, "this client was made before fork(): open a new one in the child"};
}

Result<void> done(const Result<std::string, Error>& answer) {
  if (!answer) return answer.error();
  return {};
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace

std::string_view reason_name(Reason reason) {
  if (reason == Reason::none) return "none";
  return wire::client_code_name(static_cast<wire::ClientCode>(reason));
}

class Client::Core {
 public:
  explicit Core(std::unique_ptr<Inner> made)
      : inner(std::move(made)), reader(std::make_unique<client::EventReader>()) {}
  /// In a child of fork(), does not destroy the state, because threads of the parent may have been
  /// changing it at the fork. The child's copies of the descriptors are closed already.
  ~Core() {
    if (!is_of_parent()) return;
    io::leave_to_parent(inner.release());
    io::leave_to_parent(reader.release());
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  bool is_of_parent() const { return io::forks() != forks_; }

  Result<Ticket> send(std::span<const std::string_view> targets, std::span<const std::byte> payload,
                      const SendOptions& options, Inner::Deadline deadline) {
    if (is_of_parent()) return of_parent();
    const Inner::Outgoing message{targets, payload, options.service, options.type,
                                  options.self_discard};
    const auto number = inner->send(message, deadline);
    if (!number) return number.error();
    return Ticket{*number};
  }
  std::optional<ClientEvent> event(Inner::Deadline deadline) {
    if (is_of_parent()) {
      if (std::exchange(told_, true)) return std::nullopt;
      return Ended{false, Reason::none, of_parent().message, 0, 0};
    }
    std::optional<client::Item> item = inner->take(deadline, reader->release(), reader->message());
    if (!item) return std::nullopt;
    return reader->event(std::move(*item));
  }

  std::unique_ptr<Inner> inner;
  std::unique_ptr<client::EventReader> reader;

 private:
  const std::uint64_t forks_ = io::forks();
  bool told_ = false;  ///< in a child of fork(): the application has received Ended
};

Result<Client> Client::connect(const ClientOptions& options, std::uint32_t header) {
  if (std::string problem = version_problem(header, PEAL_VERSION); !problem.empty()) {
    return Error{ErrorCode::wrong_version, std::move(problem)};
  }
  auto core = Inner::open(options);
  if (!core) return core.error();
  return Client(std::make_unique<Core>(std::move(*core)));
}

Client::Client(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<void> Client::join(std::string_view group, const JoinOptions& options,
                          std::chrono::milliseconds patience) {
  if (core_->is_of_parent()) return of_parent();
  const std::int64_t age_ms = options.age_max.count();
  if (age_ms < 0 || age_ms > 0xffff'ffff) return bad_limit(age_ms);
  wire::SlowLimits limits;
  limits.policy = static_cast<wire::SlowPolicy>(options.policy);
  limits.memory_bytes = options.memory_bytes_max;
  limits.disk_bytes = options.disk_bytes_max;
  limits.age_ms = static_cast<std::uint32_t>(age_ms);
  return done(core_->inner->join(group, limits, deadline_of(patience)));
}

Result<void> Client::leave(std::string_view group, std::chrono::milliseconds patience) {
  if (core_->is_of_parent()) return of_parent();
  return done(core_->inner->leave(group, deadline_of(patience)));
}

Result<Ticket> Client::send(std::span<const std::string_view> targets,
                            std::span<const std::byte> payload, const SendOptions& options) {
  return core_->send(targets, payload, options, Inner::Deadline{});
}

Result<Ticket> Client::send(std::initializer_list<std::string_view> targets, std::string_view text,
                            const SendOptions& options) {
  return send({targets.begin(), targets.size()}, bytes_of(text), options);
}

Result<Ticket> Client::send_for(std::span<const std::string_view> targets,
                                std::span<const std::byte> payload,
                                std::chrono::milliseconds patience, const SendOptions& options) {
  return core_->send(targets, payload, options, deadline_of(patience));
}

Result<void> Client::flush(std::chrono::milliseconds patience) {
  if (core_->is_of_parent()) return of_parent();
  if (auto failed = core_->inner->flush(deadline_of(patience))) return std::move(*failed);
  return {};
}

std::optional<ClientEvent> Client::next() { return core_->event(Inner::Deadline{}); }

std::optional<ClientEvent> Client::wait(std::chrono::milliseconds patience) {
  return core_->event(deadline_of(patience));
}

std::optional<ClientEvent> Client::wait_until(std::chrono::steady_clock::time_point deadline) {
  return core_->event(deadline);
}

int Client::fd() const { return core_->is_of_parent() ? -1 : core_->inner->events_fd(); }
int Client::room_fd() const { return core_->is_of_parent() ? -1 : core_->inner->room_fd(); }

Result<std::string> Client::ask(std::string_view what, std::chrono::milliseconds patience) {
  if (core_->is_of_parent()) return of_parent();
  auto answer = core_->inner->ask(what, deadline_of(patience));
  if (!answer) return answer.error();
  return std::move(*answer);
}

void Client::close(std::chrono::milliseconds patience) {
  if (!core_->is_of_parent()) core_->inner->close(deadline_of(patience));
}

ClientStatus Client::status() const {
  if (!core_->is_of_parent()) return core_->inner->status();
  ClientStatus status;
  status.ended = true;
  return status;
}

}  // namespace v0
}  // namespace peal
