// SPDX-License-Identifier: Apache-2.0
// Going over to another list of nodes: asked by any thread, answered by the one that runs the loop.

#include <thread>
#include <utility>

#include "config/nodes.h"
#include "member/core.h"

namespace peal::member {

Result<void, io::IoError> Core::set_nodes(config::Listing listing) {
  const auto refused = [](Errc code, std::string why) -> Result<void, io::IoError> {
    return unexpected(io::IoError{code, std::move(why)});
  };
  const config::Settings wanted = with(settings_, listing);
  const bool is_self_missing = wanted.self() == NodeId{};  // this case has a message of its own
  if (auto checked = validate(wanted); !checked && !is_self_missing) {
    return refused(Errc::invalid_option, std::move(checked.error()));
  }
  const std::lock_guard one_by_one(reload_mutex_);
  std::unique_lock lock(mutex_);
  if (ended_) return refused(Errc::closed, "the member has left");
  nodes_answer_.reset();
  nodes_asked_ = std::move(listing);
  loop_->wake();
  while (!nodes_answer_ && runs_loop() && runner_ == std::this_thread::get_id()) {
    lock.unlock();
    turn({});  // no other thread would answer
    lock.lock();
  }
  answered_.wait(lock, [&] { return ended_ || nodes_answer_; });
  if (!nodes_answer_) return refused(Errc::closed, "the member has left");
  if (nodes_answer_->empty()) return {};
  return refused(Errc::invalid_option, *nodes_answer_);
}

void Core::take_nodes(Instant now) {
  std::optional<config::Listing> nodes;
  {
    const std::lock_guard lock(mutex_);
    nodes = std::exchange(nodes_asked_, std::nullopt);
  }
  if (!nodes) return;
  std::string answer = give_nodes(now, *nodes);
  const std::lock_guard lock(mutex_);
  nodes_answer_ = std::move(answer);
  answered_.notify_all();
}

std::string Core::give_nodes(Instant now, const config::Listing& listing) {
  if (auto checked = runtime_->validate(listing); !checked) return "nodes: " + checked.error();
  Notice notice;  // must precede all events of new nodes
  notice.kind = Notice::Kind::names;
  for (const config::NodeEntry& node : listing.nodes)
    notice.names.emplace_back(node.number, node.name);
  push_notice(std::move(notice));
  runtime_->set_nodes(now, listing);
  return {};
}

}  // namespace peal::member
