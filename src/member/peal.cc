// SPDX-License-Identifier: Apache-2.0
// Implements the public interface with the modules: this file only translates names and types.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "base/version.h"
#include "config/domains.h"
#include "io/fork.h"
#include "member/config.h"
#include "member/embedded_node.h"
#include "trace/json.h"

namespace peal {
inline namespace v0 {
namespace {

static_assert(static_cast<int>(ErrorCode::system) == static_cast<int>(Errc::system));
static_assert(static_cast<int>(ErrorCode::closed) == static_cast<int>(Errc::closed));

ErrorCode code_of(Errc code) { return static_cast<ErrorCode>(code); }

Error submit_error(Errc code, const config::Settings& settings) {
  switch (code) {
    case Errc::would_block:
      return {code_of(code), "too many messages wait to be ordered: read events, then try again"};
    case Errc::too_large: return {code_of(code), config::message_too_large_text(settings)};
    default: return {code_of(code), "the member has left or stopped"};
  }
}

Error of_parent() {
  return {ErrorCode::closed, "this member was made before fork(): open a new one in the child"};
}

Message to_message(const member::MessageOut& from) {
  Message to;
  to.sender = from.sender;
  to.number = from.number;
  to.own = from.own;
  to.service = from.service;
  to.payload = from.payload;
  to.view = from.view;
  to.position = from.seq;
  to.index = from.seq == 0 ? 0 : from.index;
  to.transitional = from.transitional;
  to.as_guessed = from.as_guessed;
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

/// A century stands for an infinite time: unlike kForever, it can be added to a time.
std::chrono::milliseconds finite(std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365 * 100);
  return std::clamp(patience, std::chrono::milliseconds(0), kLongest);
}

std::chrono::steady_clock::time_point deadline_of(std::chrono::milliseconds patience) {
  return std::chrono::steady_clock::now() + finite(patience);
}

}  // namespace

class Member::Impl {
 public:
  explicit Impl(std::unique_ptr<member::EmbeddedNode> made) : inner(std::move(made)) {}
  /// In a child after fork(), does not destroy the node, because the parent's threads may have been
  /// changing its state. The child's copies of the descriptors are closed already.
  ~Impl() {
    if (is_of_parent()) io::leave_to_parent(inner.release());
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool is_of_parent() const { return io::forks() != forks_; }

  /// Calls `send`, which queues a message, with the domains of these names.
  template <class Send>
  Result<Ticket> send(const DomainNames& names, Send&& send) {
    if (is_of_parent()) return of_parent();
    auto domains = config::destinations(inner->settings(), names.all());
    if (!domains) return Error{ErrorCode::invalid_option, std::move(domains.error())};
    return ticket(send(*domains));
  }
  Result<Ticket> ticket(const decltype(std::declval<member::EmbeddedNode&>().submit({},
                                                                                    {}))& number) {
    if (!number) {
      return submit_error(number.error(), inner->settings());
    }
    return Ticket{*number};
  }
  std::optional<Event> event(member::EventReader::Out out) {
    if (const auto* message = std::get_if<member::MessageOut>(&out)) {
      Message public_one = to_message(*message);
      public_one.domains = names_of(message->domains);
      if (message->early) return Early{public_one};
      return public_one;
    }
    const auto* notice = std::get_if<std::unique_ptr<member::Notice>>(&out);
    if (notice == nullptr) return std::nullopt;
    member::Notice& it = **notice;
    switch (it.kind) {
      case member::Notice::Kind::view: return to_view(it, inner->names());
      case member::Notice::Kind::warning: return Warning{std::move(it.text)};
      case member::Notice::Kind::names: break;  // the reader has handled the notice
      case member::Notice::Kind::closed: return Closed{it.on_request, std::move(it.text)};
    }
    return std::nullopt;
  }

  /// The result of next() and wait() in a child after fork().
  std::optional<Event> event_of_parent() {
    if (std::exchange(told_, true)) return std::nullopt;
    return Closed{false, of_parent().message};
  }

  std::unique_ptr<member::EmbeddedNode> inner;

 private:
  /// The names of these domains; valid until the next call.
  std::span<const std::string_view> names_of(DomainSet domains) {
    std::size_t count = 0;
    for (const DomainId domain : domains) {
      domain_names_[count++] = config::domain_name(inner->settings(), domain);
    }
    return {domain_names_.data(), count};
  }

  std::array<std::string_view, kDomainMax> domain_names_;  ///< for the message that next() returned
  const std::uint64_t forks_ = io::forks();
  bool told_ = false;  ///< in a child after fork(): the event Closed was returned
};

Result<Member> Member::embed(const Config& config, std::uint32_t header) {
  if (std::string problem = version_problem(header, PEAL_VERSION); !problem.empty()) {
    return Error{ErrorCode::wrong_version, std::move(problem)};
  }
  auto settings = member::settings_of(config);
  if (!settings) return std::move(settings).error();
  auto core = member::EmbeddedNode::open(*settings);
  if (!core) return Error{code_of(core.error().code), core.error().message};
  return Member(std::make_unique<Impl>(std::move(*core)));
}

Member::Member(std::unique_ptr<Impl> core) : impl_(std::move(core)) {}
Member::Member(Member&&) noexcept = default;
Member& Member::operator=(Member&&) noexcept = default;
Member::~Member() = default;

Result<Ticket> Member::multicast(std::span<const std::byte> payload, Service service,
                                 DomainNames domains) {
  return impl_->send(
      domains, [&](DomainSet known) { return impl_->inner->submit(payload, service, known); });
}

Result<Ticket> Member::multicast(std::string_view text, Service service, DomainNames domains) {
  return multicast(std::as_bytes(std::span<const char>(text.data(), text.size())), service,
                   domains);
}

Result<Ticket> Member::multicast_for(std::span<const std::byte> payload, Service service,
                                     std::chrono::milliseconds patience, DomainNames domains) {
  return impl_->send(domains, [&](DomainSet known) {
    return impl_->inner->submit_until(payload, service, known, deadline_of(patience));
  });
}

std::optional<Event> Member::next() {
  if (impl_->is_of_parent()) return impl_->event_of_parent();
  return impl_->event(impl_->inner->next());
}

std::optional<Event> Member::wait(std::chrono::milliseconds patience) {
  if (impl_->is_of_parent()) return impl_->event_of_parent();
  return impl_->event(impl_->inner->wait_until(deadline_of(patience)));
}

int Member::fd() const { return impl_->is_of_parent() ? -1 : impl_->inner->fd(); }

void Member::leave(std::chrono::milliseconds patience) {
  if (!impl_->is_of_parent()) impl_->inner->leave(finite(patience));
}

std::string Member::id() const {
  return impl_->is_of_parent() ? std::string() : impl_->inner->id();
}

Result<std::string> Member::reload_keys() {
  if (impl_->is_of_parent()) return of_parent();
  const auto sending = impl_->inner->reload_keys();
  if (sending) return seal::to_text(*sending);
  return Error{code_of(sending.error().code), sending.error().message};
}

Result<void> Member::set_nodes(const std::vector<Node>& nodes,
                               const std::vector<std::uint32_t>& acceptors) {
  if (impl_->is_of_parent()) return of_parent();
  auto entries = member::nodes_of(nodes);
  if (!entries) return std::move(entries).error();
  config::Listing listing{std::move(*entries), {}};
  for (const std::uint32_t number : acceptors) listing.acceptors.push_back(NodeId{number});
  const auto given = impl_->inner->set_nodes(std::move(listing));
  if (given) return {};
  return Error{code_of(given.error().code), given.error().message};
}

Status Member::status() const {
  Status to;
  if (impl_->is_of_parent()) {
    to.waits_for = of_parent().message;
    return to;
  }
  runtime::Snapshot from = impl_->inner->status();
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
