// SPDX-License-Identifier: Apache-2.0
#include "io/address_book.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.h"

namespace peal::io {
namespace {

/// Shortest and longest pause before a check for an answer. The pause doubles each time.
constexpr Duration kPollMin = milliseconds(5);
constexpr Duration kPollMax = milliseconds(200);

std::string host_text(const Endpoint& at) {
  const std::string text = to_string(at);
  return text.substr(0, text.rfind(':'));
}

std::string list_of(const std::vector<Endpoint>& found) {
  constexpr std::size_t kShownMax = 4;
  std::string text;
  for (std::size_t i = 0; i < found.size() && i < kShownMax; ++i) {
    text += (i == 0 ? "" : ", ") + host_text(found[i]);
  }
  return text + (found.size() > kShownMax ? ", …" : "");
}

bool is_usable(const Endpoint& at) {
  const bool broadcast = at.is_v4() && at.ip[12] >= 224;
  return !at.is_unspecified() && !at.is_multicast() && !broadcast;
}

}  // namespace

AddressBook::AddressBook(const Endpoint& own, std::vector<Entry> nodes, LookUp::Question question)
    : own_(own), entries_(std::move(nodes)), question_(std::move(question)) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (const auto number = endpoint_of(entries_[i].name)) {
      entries_[i].at = *number;
      continue;
    }
    State& state = states_.emplace_back();
    state.entry = i;
    state.due = Instant{};
  }
}

void AddressBook::set_nodes(Instant now, std::vector<Entry> nodes) {
  const std::vector<Entry> before = std::exchange(entries_, std::move(nodes));
  std::vector<State> states = std::exchange(states_, {});
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const auto known = std::find_if(before.begin(), before.end(),
                                    [&](const Entry& each) { return each.node == entry.node; });
    if (known != before.end()) {
      const HostPort name = std::exchange(entry.name, {});
      entry = *known;
      entry.name = name;
    }
    if (const auto number = endpoint_of(entry.name)) {
      entry.at = *number;
      entry.problem.clear();
      continue;
    }
    const auto old = std::find_if(states.begin(), states.end(), [&](const State& state) {
      return known != before.end() &&
             state.entry == static_cast<std::size_t>(known - before.begin());
    });
    const bool same = old != states.end() && known->name == entry.name;
    State& state = states_.emplace_back();
    if (same) state = std::move(*old);
    state.entry = i;
    if (same) continue;
    state.present = old != states.end() && old->present;
    state.due = now;
  }
}

void AddressBook::set_present(Instant now, std::span<const MemberId> members) {
  for (State& state : states_) {
    const NodeId node = entries_[state.entry].node;
    const bool present = std::any_of(members.begin(), members.end(),
                                     [&](const MemberId& each) { return each.node == node; });
    if (state.present == present) continue;
    state.present = present;
    state.pause = kAskAgainMin;
    state.due = present ? std::nullopt : std::optional(now);
  }
}

void AddressBook::ask_all(Instant now) {
  for (State& state : states_) {
    state.pause = kAskAgainMin;
    state.due = now;
  }
}

void AddressBook::on_strangers(Instant now) {
  for (State& state : states_) {
    if (state.present || !state.due) continue;
    state.pause = kAskAgainMin;
    const Instant soonest = state.asked ? *state.asked + kAskAgainMin : now;
    state.due = std::min(*state.due, std::max(now, soonest));
  }
}

int AddressBook::waiting() const {
  return static_cast<int>(std::count_if(states_.begin(), states_.end(), [](const State& state) {
    return state.waiting.has_value();
  }));
}

std::optional<Instant> AddressBook::next_deadline() const {
  std::optional<Instant> first = next_poll_;
  if (waiting() >= kQuestionsMax) return first;
  for (const State& state : states_) {
    if (state.waiting || !state.due) continue;
    if (!first || *state.due < *first) first = state.due;
  }
  return first;
}

void AddressBook::on_timer(Instant now, const OnChange& on_change) {
  for (State& state : states_) {
    if (!state.waiting) continue;
    const auto answer = state.waiting->wait({});
    if (!answer) continue;
    state.waiting.reset();
    take(now, state, *answer, on_change);
  }
  while (waiting() < kQuestionsMax) {
    State* next = nullptr;  // the name that has been due for longest
    for (State& state : states_) {
      if (state.waiting || !state.due || *state.due > now) continue;
      if (next == nullptr || *state.due < *next->due) next = &state;
    }
    if (next == nullptr) break;
    ask(now, *next);
  }
  if (waiting() == 0) {
    next_poll_.reset();
  } else if (!next_poll_ || *next_poll_ <= now) {
    poll_pause_ = next_poll_ ? std::min(poll_pause_ + poll_pause_, kPollMax) : kPollMin;
    next_poll_ = now + poll_pause_;
  }
}

void AddressBook::ask(Instant now, State& state) {
  state.asked = now;
  // The name of a node in the view is looked up only on request.
  state.due = state.present ? std::nullopt : std::optional(now + state.pause);
  state.pause = std::min(state.pause + state.pause, kAskAgainMax);
  const HostPort& name = entries_[state.entry].name;
  auto begun = question_ ? LookUp::begin(name, question_) : LookUp::begin(name);
  if (!begun) {  // no look-up can start now, whatever the name
    state.due = now + kAskAgainMin;
    return;
  }
  state.waiting = std::move(*begun);
  next_poll_.reset();
}

void AddressBook::take(Instant now, State& state, const LookUp::Answer& answer,
                       const OnChange& on_change) {
  Entry& entry = entries_[state.entry];
  const Entry before = entry;
  const auto chosen = answer ? choose(now, entry, *answer)
                             : Result<Endpoint, std::string>(unexpected(answer.error().message));
  entry.problem = chosen ? "" : chosen.error();
  if (chosen) {
    entry.at = *chosen;
  } else if (state.contested && (answer || answer.error().code == Errc::invalid_option)) {
    entry.at = {};  // another node has that address now
  }
  state.contested = false;
  const bool moved = entry.at != before.at;
  const bool missed = !entry.known() && !entry.problem.empty() && before.problem.empty();
  if (moved || missed) on_change({entry, before.at});
}

Result<Endpoint, std::string> AddressBook::choose(Instant now, const Entry& entry,
                                                  const std::vector<Endpoint>& found) {
  std::string why;
  std::optional<Endpoint> chosen;
  for (const Endpoint& at : found) {
    if (at.is_v4() != own_.is_v4()) continue;
    if (at.is_loopback() != own_.is_loopback()) {
      why = host_text(at) + " and this node's own address, " + host_text(own_) +
            ", cannot reach each other: give both names addresses of one network, and look at "
            "/etc/hosts";
      continue;
    }
    if (!is_usable(at) || is_taken(now, entry, at, why)) continue;
    if (at == entry.at) return at;  // the present address is still valid
    if (!chosen) chosen = at;
  }
  if (chosen) return *chosen;
  if (!why.empty()) return unexpected(why);
  return unexpected("it is " + list_of(found) + ": accepted is an " +
                    std::string(own_.is_v4() ? "IPv4" : "IPv6") +
                    " address, as this node's own is");
}

// True if `at` is the address of this node, or of a node other than that of `entry`; `why` then
// names that node. Ports that differ by 1 collide too, because a node uses its port and the port
// above. If the other node is not in the view, its name is looked up again. Once that name no
// longer has the address, `entry` may get it.
bool AddressBook::is_taken(Instant now, const Entry& entry, const Endpoint& at, std::string& why) {
  const auto collides = [&](const Endpoint& other) {
    return other.ip == at.ip && std::abs(int{other.port} - int{at.port}) <= 1;
  };
  if (collides(own_)) {
    why = to_string(at) + " is this node's own address";
    return true;
  }
  const auto other = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) {
    return each.node != entry.node && each.known() && collides(each.at);
  });
  if (other == entries_.end()) return false;
  why = to_string(at) + " is the address of " + to_string(other->name) + " too";
  for (State& state : states_) {
    if (&entries_[state.entry] != &*other || state.present) continue;
    state.contested = true;
    if (!state.asked || now - *state.asked >= kAskAgainMin) state.due = now;
  }
  return true;
}

Result<Endpoint, IoError> choose_own(const HostPort& name, const std::vector<Endpoint>& found,
                                     std::optional<bool> v4) {
  std::optional<Endpoint> chosen;
  for (const Endpoint& at : found) {
    if (v4 && at.is_v4() != *v4) continue;
    if (!is_usable(at) || !is_local(at)) continue;
    if (!chosen || (chosen->is_loopback() && !at.is_loopback())) chosen = at;
  }
  if (chosen) return *chosen;
  return unexpected(
      IoError{Errc::invalid_option, quote(name.host) + " is " + list_of(found) +
                                        ": accepted is a name with an address of this machine" +
                                        (!v4   ? ""
                                         : *v4 ? ", IPv4"
                                               : ", IPv6")});
}

}  // namespace peal::io
