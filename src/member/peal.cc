// SPDX-License-Identifier: Apache-2.0
// The public interface, in terms of the modules. Everything is done elsewhere; here things only
// change their names.

#include <type_traits>
#include <utility>

#include "base/version.h"
#include "config/domains.h"
#include "io/fork.h"
#include "member/core.h"
#include "trace/json.h"

// Last: see member/config.h.
#include "member/config.h"

namespace peal {
inline namespace v0 {
namespace {

using InnerService = decltype(member::MessageOut::service);
static_assert(static_cast<int>(v0::Service::safe) == static_cast<int>(InnerService::safe));
static_assert(static_cast<int>(v0::Service::agreed) == static_cast<int>(InnerService::agreed));
static_assert(static_cast<int>(v0::Service::causal) == static_cast<int>(InnerService::causal));
static_assert(static_cast<int>(ErrorCode::system) == static_cast<int>(Errc::system));
static_assert(static_cast<int>(ErrorCode::closed) == static_cast<int>(Errc::closed));

ErrorCode code_of(Errc code) { return static_cast<ErrorCode>(code); }

Error submit_error(Errc code, std::uint32_t message_bytes_max) {
  switch (code) {
    case Errc::would_block:
      return {code_of(code), "too many messages wait to be ordered: read events, then try again"};
    case Errc::too_large:
      return {code_of(code), "the message is larger than message_bytes_max, which is " +
                                 std::to_string(message_bytes_max)};
    default: return {code_of(code), "the member has left or stopped"};
  }
}

Error of_parent() {
  return {ErrorCode::closed, "this member was made before fork(): open a new one in the child"};
}

Message to_message(const member::MessageOut& from, const config::Settings& settings) {
  Message to;
  to.sender = from.sender;
  to.number = from.number;
  to.own = from.own;
  to.service = static_cast<v0::Service>(from.service);
  to.payload = from.payload;
  to.view = from.view;
  to.position = from.seq;
  to.index = from.index;
  to.transitional = from.transitional;
  to.as_guessed = from.as_guessed;
  to.domain = config::domain_name_at(settings, from.seq);
  return to;
}

View to_view(const member::Notice& from, const trace::Names& names) {
  View to;
  to.transitional = from.transitional;
  to.id = trace::text_of(from.id, names);
  if (from.old.number != 0) to.old = trace::text_of(from.old, names);
  for (const MemberId& each : from.members) to.members.push_back(trace::text_of(each, names));
  if (from.primary != order::Primary::unclaimed) {
    to.primary = from.primary == order::Primary::yes;
  }
  to.reason = from.text;
  return to;
}

}  // namespace

class Member::Core {
 public:
  explicit Core(std::unique_ptr<member::Core> made) : inner(std::move(made)) {}
  /// In a child after fork(), state that the parent's threads may have been changing is left as it
  /// is. Its descriptors are closed already.
  ~Core() {
    if (is_of_parent()) io::leave_to_parent(inner.release());
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  bool is_of_parent() const { return io::forks() != forks_; }

  /// `send` takes the message for a domain.
  template <class Send>
  v0::Result<Ticket> send(std::string_view domain, Send&& send) {
    if (is_of_parent()) return of_parent();
    const auto known = config::domain_of(inner->settings(), domain);
    if (known) return ticket(send(*known));
    return Error{ErrorCode::invalid_option, "domain \"" + std::string(domain) +
                                                "\" is none that this node is in: " +
                                                config::own_domains_text(inner->settings())};
  }
  v0::Result<Ticket> ticket(const decltype(std::declval<member::Core&>().submit({}, {}))& number) {
    if (!number) return submit_error(number.error(), inner->message_bytes_max());
    return Ticket{*number};
  }
  std::optional<Event> event(member::Reader::Out out) {
    if (const auto* message = std::get_if<member::MessageOut>(&out)) {
      Message public_one = to_message(*message, inner->settings());
      if (message->early) return Early{public_one};
      return public_one;
    }
    const auto* notice = std::get_if<std::unique_ptr<member::Notice>>(&out);
    if (notice == nullptr) return std::nullopt;
    member::Notice& it = **notice;
    switch (it.kind) {
      case member::Notice::Kind::view: return to_view(it, inner->names());
      case member::Notice::Kind::warning: return Warning{std::move(it.text)};
      case member::Notice::Kind::names: break;  // the reader has handled it
      case member::Notice::Kind::closed: return Closed{it.on_request, std::move(it.text)};
    }
    return std::nullopt;
  }

  /// The result of reading in a child.
  std::optional<Event> event_of_parent() {
    if (std::exchange(told_, true)) return std::nullopt;
    return Closed{false, of_parent().message};
  }

  std::unique_ptr<member::Core> inner;

 private:
  const std::uint64_t forks_ = io::forks();
  bool told_ = false;  ///< that the member is the parent's
};

v0::Result<Member> Member::embed(const Config& config, std::uint32_t header) {
  if (std::string problem = version_problem(header, PEAL_VERSION); !problem.empty()) {
    return Error{ErrorCode::wrong_version, std::move(problem)};
  }
  auto settings = member::settings_of(config);
  if (auto* error = std::get_if<Error>(&settings)) return std::move(*error);
  auto core = member::Core::open(std::get<config::Settings>(settings));
  if (!core) return Error{code_of(core.error().code), core.error().message};
  return Member(std::make_unique<Core>(std::move(*core)));
}

Member::Member(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Member::Member(Member&&) noexcept = default;
Member& Member::operator=(Member&&) noexcept = default;
Member::~Member() = default;

v0::Result<Ticket> Member::multicast(std::span<const std::byte> payload, v0::Service service,
                                     std::string_view domain) {
  return core_->send(domain, [&](order::Domain known) {
    return core_->inner->submit(payload, static_cast<InnerService>(service), known);
  });
}

v0::Result<Ticket> Member::multicast(std::string_view text, v0::Service service,
                                     std::string_view domain) {
  return multicast(std::as_bytes(std::span<const char>(text.data(), text.size())), service, domain);
}

v0::Result<Ticket> Member::multicast_for(std::span<const std::byte> payload, v0::Service service,
                                         std::chrono::milliseconds patience,
                                         std::string_view domain) {
  return core_->send(domain, [&](order::Domain known) {
    return core_->inner->submit_until(payload, static_cast<InnerService>(service), known,
                                      std::chrono::steady_clock::now() + patience);
  });
}

std::optional<Event> Member::next() {
  if (core_->is_of_parent()) return core_->event_of_parent();
  return core_->event(core_->inner->next());
}

std::optional<Event> Member::wait(std::chrono::milliseconds patience) {
  if (core_->is_of_parent()) return core_->event_of_parent();
  return core_->event(core_->inner->wait_until(std::chrono::steady_clock::now() + patience));
}

int Member::fd() const { return core_->is_of_parent() ? -1 : core_->inner->fd(); }

void Member::leave(std::chrono::milliseconds patience) {
  if (!core_->is_of_parent()) core_->inner->leave(patience);
}

std::string Member::id() const {
  return core_->is_of_parent() ? std::string() : core_->inner->id();
}

v0::Result<std::string> Member::reload_keys() {
  if (core_->is_of_parent()) return of_parent();
  const auto sending = core_->inner->reload_keys();
  if (sending) return seal::to_text(*sending);
  return Error{code_of(sending.error().code), sending.error().message};
}

v0::Result<Done> Member::set_nodes(const std::vector<Node>& nodes,
                                   const std::vector<std::uint32_t>& acceptors) {
  if (core_->is_of_parent()) return of_parent();
  auto entries = member::nodes_of(nodes);
  if (auto* error = std::get_if<Error>(&entries)) return std::move(*error);
  config::Listing listing{std::move(std::get<std::vector<config::NodeEntry>>(entries)), {}};
  for (const std::uint32_t number : acceptors) listing.acceptors.push_back(NodeId{number});
  const auto given = core_->inner->set_nodes(std::move(listing));
  if (given) return Done{};
  return Error{code_of(given.error().code), given.error().message};
}

Status Member::status() const {
  Status to;
  if (core_->is_of_parent()) {
    to.waits_for = of_parent().message;
    return to;
  }
  runtime::Snapshot from = core_->inner->status();
  to.id = std::move(from.id);
  to.view = std::move(from.view);
  to.members = std::move(from.members);
  to.queued_messages = from.queued_messages;
  to.queued_bytes = from.queued_bytes;
  to.unread_bytes = from.unread_bytes;
  to.order = std::move(from.order);
  for (auto& each : from.options) to.options[each.key] = std::move(each.text);
  to.domains = std::move(from.domains);
  to.waits_for = std::move(from.waits_for);
  for (auto& each : from.missing) {
    to.missing.push_back({std::move(each.name), std::move(each.reason)});
  }
  to.multicast = std::move(from.multicast);
  to.data = std::move(from.data);
  to.seal = std::move(from.seal);
  for (auto& each : from.nodes) {
    to.nodes.push_back({std::move(each.name), std::move(each.address), std::move(each.at),
                        std::move(each.problem)});
  }
  to.list = std::move(from.list);
  to.next_list = std::move(from.next_list);
  to.list_waits_for = std::move(from.list_waits_for);
  to.counters = std::move(from.counters);
  return to;
}

}  // namespace v0
}  // namespace peal
