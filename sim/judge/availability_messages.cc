// SPDX-License-Identifier: Apache-2.0
// Checks for E13 that messages reach all members of the views, and that these views stay.

#include <algorithm>
#include <array>
#include <optional>

#include "sim/judge/availability.h"
#include "sim/scenario/tokenizer.h"
#include "trace/event.h"

namespace peal::sim {

/// Waits until `done` of each node counts all messages that the node has accepted by the time when
/// nothing waits for it any more.
bool Availability::wait_for_own(const Nodes& nodes, Instant limit,
                                std::uint64_t WorkCounts::*done) {
  std::vector<std::optional<std::uint64_t>> wanted(world_.nodes() + 1);
  return wait(limit, [&] {
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
      const Process* process = world_.process(node);
      if (process == nullptr) return false;
      std::optional<std::uint64_t>& number = wanted[node.value];
      if (!number && process->inputs.inbox.empty()) number = process->submissions.accepted;
      return number && process->work.*done >= *number;
    });
  });
}

bool Availability::try_exchange(const Nodes& nodes, Instant limit) {
  for (const NodeId node : nodes) {
    for (const order::Domain domain : world_.domains().of(node)) {
      world_.submit(node, Service::agreed, world_.loads().payload(node, kProbeBytes),
                    DomainSet::of(domain));
    }
  }
  const bool ordered = wait_for_own(nodes, limit, &WorkCounts::own_delivered);
  if (!ordered || stopped_()) return false;
  // `lines` holds, for each sender and domain, the position that all members of the sender's view
  // must reach. Until then, no sender may install another view.
  const auto views_before = [&] {
    std::vector<std::uint64_t> views;
    for (const NodeId node : nodes) views.push_back(world_.process(node)->status.views);
    return views;
  };
  const std::vector<std::uint64_t> views = views_before();
  std::vector<std::array<Seq, kDomainMax + 1>> lines;
  for (const NodeId node : nodes) {
    auto& line = lines.emplace_back();
    const Process* process = world_.process(node);
    for (std::size_t i = 0; i < line.size(); ++i) line[i] = process->status.reached[i].seq;
  }
  return wait(limit, [&] {
    if (views_before() != views) return false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Process* sender = world_.process(nodes[i]);
      for (const NodeId member : view_of(nodes[i])) {
        const Process* process = world_.process(member);
        if (process == nullptr || !process->status.view ||
            *process->status.view != *sender->status.view)
          return false;
        for (const order::Domain domain : world_.domains().of(member)) {
          const auto& own = world_.domains().of(nodes[i]);
          if (std::find(own.begin(), own.end(), domain) == own.end()) continue;
          if (process->status.reached[domain].seq < lines[i][domain]) return false;
        }
      }
    }
    return true;
  });
}

/// Waits until each of `nodes` has delivered all its own submissions. False if a node with
/// undelivered submissions delivers none of these submissions within a bound.
bool Availability::drain(const Nodes& nodes) {
  const auto undelivered = [this](NodeId node) -> std::uint64_t {
    const Process* process = world_.process(node);
    return process == nullptr ? 0 : process->undone();
  };
  for (;;) {
    std::vector<std::uint64_t> before;
    for (const NodeId node : nodes) before.push_back(undelivered(node));
    if (std::all_of(before.begin(), before.end(), [](std::uint64_t n) { return n == 0; })) {
      return true;
    }
    const bool all = wait(world_.now() + times_.bound, [&] {
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (before[i] != 0 && undelivered(nodes[i]) >= before[i]) return false;
      }
      return true;
    });
    if (!all || stopped_()) return false;
  }
}

bool Availability::exchange(const Nodes& nodes, const std::string& when) {
  if (try_exchange(nodes, world_.now() + times_.bound) || stopped_()) return true;
  // A scenario's disks, buffers and windows may be too slow for its load. Then the nodes first
  // order the backlog; each node must make progress within each bound.
  world_.loads().stop();
  if (drain(nodes) && try_exchange(nodes, world_.now() + times_.bound)) return true;
  if (stopped_()) return true;
  say("messages of " + nodes_text(nodes) + " did not reach all members of their views within " +
      duration_text(times_.bound) + " " + when);
  return false;
}

/// True if the node is in `view`, or in a smaller view that still has all working nodes of
/// `members`. Updates `view` and `members` to the node's present view, unless the node is in no
/// view.
bool Availability::stays(NodeId node, ViewId& view, Nodes& members) const {
  const Process* process = world_.process(node);
  if (process == nullptr || !process->status.operational || !process->status.view) return false;
  if (*process->status.view == view) return true;
  const Nodes now = view_of(node);
  const bool fewer = now.size() < members.size();
  const bool right = std::all_of(members.begin(), members.end(), [&](NodeId each) {
    return !node_works(each) || std::binary_search(now.begin(), now.end(), each);
  });
  view = *process->status.view;
  members = now;
  return fewer && right;
}

void Availability::watch(const Nodes& nodes) {
  std::vector<ViewId> views;
  std::vector<Nodes> members;
  for (const NodeId node : nodes) {
    views.push_back(*world_.process(node)->status.view);
    members.push_back(view_of(node));
  }
  const Instant end = world_.now() + times_.watch;
  std::size_t turn = 0;
  while (!stopped_() && world_.now() < end) {
    const NodeId sender = nodes[turn % nodes.size()];
    const std::size_t bytes = turn / nodes.size() % 2 == 0 ? kProbeBytes : large_bytes();
    ++turn;
    world_.submit(sender, Service::safe, world_.loads().payload(sender, bytes),
                  world_.domains().draw(sender));
    wait(std::min(end, world_.now() + milliseconds(50)), [] { return false; });
    for (std::size_t i = 0; i < nodes.size() && !stopped_(); ++i) {
      if (stays(nodes[i], views[i], members[i])) continue;
      return say(nodes_text({nodes[i]}) + " left its view, which works");
    }
  }
}

}  // namespace peal::sim
