// SPDX-License-Identifier: Apache-2.0
// Requests of any thread to a member: new keys, another list of nodes, its status.

#include <thread>
#include <utility>

#include "config/nodes.h"
#include "member/embedded_node.h"
#include "trace/json.h"

namespace peal::member {
namespace {

io::IoError closed() { return {Errc::closed, "the member has left"}; }

/// Gives a new list of nodes to the runtime. Returns why the list is refused; empty if the list is
/// accepted. Thread: the loop's.
std::string give_nodes(Instant now, const config::Listing& listing, runtime::Runtime& to,
                       Deliveries& deliveries) {
  if (auto checked = to.nodes().validate(listing); !checked) return "nodes: " + checked.error();
  Notice notice;  // must precede all events of new nodes
  notice.kind = Notice::Kind::names;
  for (const config::NodeEntry& node : listing.nodes) {
    notice.names.emplace_back(node.number, node.name);
  }
  deliveries.push(std::move(notice));
  to.set_nodes(now, listing);
  return {};
}

}  // namespace

Result<seal::KeyId, io::IoError> EmbeddedNode::reload_keys() {
  if (settings_.insecure) {
    return unexpected(io::IoError{Errc::invalid_option,
                                  "insecure = true: there is no key file to read again; restart "
                                  "with a key_file"});
  }
  const std::lock_guard one_by_one(requests_.one_by_one());
  auto keys = config::read_keys(settings_);
  if (!keys) return unexpected(io::IoError{Errc::invalid_option, keys.error()});
  const seal::KeyId sending = keys->sending;
  if (!requests_.ask_keys(std::move(*keys))) return unexpected(closed());
  loop_->wake();
  return sending;
}

Result<void, io::IoError> EmbeddedNode::set_nodes(config::Listing listing) {
  const config::Settings wanted = with(settings_, listing);
  const bool is_self_missing = wanted.self() == NodeId{};  // this case has a message of its own
  if (auto checked = validate(wanted); !checked && !is_self_missing) {
    return unexpected(io::IoError{Errc::invalid_option, std::move(checked.error())});
  }
  const std::lock_guard one_by_one(requests_.one_by_one());
  if (!requests_.ask_nodes(std::move(listing))) return unexpected(closed());
  loop_->wake();
  while (runs_loop_here() && !requests_.nodes_answered()) turn({});  // no other thread would answer
  const auto answer = requests_.wait_for_nodes();
  if (!answer) return unexpected(closed());
  if (answer->empty()) return {};
  return unexpected(io::IoError{Errc::invalid_option, *answer});
}

runtime::Snapshot EmbeddedNode::status() const {
  if (runs_loop_here()) return snapshot();
  const std::uint64_t question = requests_.ask_status();
  loop_->wake();
  return requests_.wait_for_status(question);
}

// ---- the loop's thread ----

void EmbeddedNode::take_requests(Instant now) {
  if (const auto keys = requests_.take_keys()) runtime_->set_keys(*keys);
  if (const auto nodes = requests_.take_nodes()) {
    requests_.answer_nodes(give_nodes(now, *nodes, *runtime_, deliveries_));
  }
  if (const auto question = requests_.open_status_question()) {
    requests_.answer_status(*question, snapshot());
  }
}

runtime::Snapshot EmbeddedNode::snapshot() const {
  runtime::Snapshot now = snapshot_of(*runtime_);
  now.id = requests_.id();
  const trace::Names& names = runtime_->names();
  if (!deliveries_.members().empty()) now.view = trace::text_of(deliveries_.view(), names);
  for (const MemberId& each : deliveries_.members()) {
    now.members.push_back(trace::text_of(each, names));
  }
  const std::uint64_t submitted = submitted_.pushed();
  const std::uint64_t delivered =
      settings_.order->traits.genuine ? placed_ : deliveries_.own_delivered();
  now.queued_messages = submitted > delivered ? submitted - delivered : 0;
  now.unread_bytes = queue_.unread_bytes();
  now.counters.emplace_back("member_copied_units", deliveries_.copied_units());
  return now;
}

}  // namespace peal::member
