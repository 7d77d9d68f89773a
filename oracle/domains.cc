// SPDX-License-Identifier: Apache-2.0
#include "oracle/domains.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "oracle/verdict.h"

namespace peal::oracle {
namespace {

std::string set_text(std::uint32_t domains) {
  std::string text;
  for (std::uint32_t i = 1; i < 32; ++i) {
    if ((domains >> i & 1U) != 0) text += (text.empty() ? "domain " : ",") + std::to_string(i);
  }
  return text.empty() ? std::string() : text + ": ";
}

}  // namespace

Domains::Domains(const Options& options) : options_(options) { add_sets(options); }

Domains::Set Domains::set_of(NodeId node) const {
  Set learned = 1;
  for (std::size_t i = 0; i < options_.domains.size(); ++i) {
    const std::vector<NodeId>& nodes = options_.domains[i];
    if (std::binary_search(nodes.begin(), nodes.end(), node)) learned |= Set{2} << i;
  }
  return learned;
}

bool Domains::learns(NodeId node, const Part& part) const {
  return (set_of(node) & part.learned) == part.learned;
}

// Adds a part for each set of domains that nodes can have in common: no domain, each domain alone,
// all domains of a node, and the domains that two nodes share.
void Domains::add_sets(const Options& options) {
  std::set<Set> sets{1};
  for (std::size_t i = 0; i < options.domains.size(); ++i) {
    sets.insert(1 | Set{2} << i);
    for (const NodeId node : options.domains[i]) sets.insert(set_of(node));
  }
  const std::set<Set> of_nodes = sets;
  for (const Set one : of_nodes) {
    for (const Set other : of_nodes) sets.insert(one & other);
  }
  for (const Set each : sets) {
    Options part = options;
    part.domains.clear();
    part.sparse = true;
    // feed() removes members from the views of a part with domains, so these views do not show
    // majorities.
    if (each != 1) part.universe = 0;
    parts_.push_back(std::make_unique<Part>(part, each));
  }
}

void Domains::add(const trace::Event& event) {
  const bool of_message = event.kind == trace::Kind::submit ||
                          event.kind == trace::Kind::originate ||
                          event.kind == trace::Kind::deliver;
  if (event.kind == trace::Kind::deliver && event.layer == options_.layer) {
    check_destinations(event);
    check_order(event);
  }
  for (const auto& part : parts_) {
    if (!learns(event.node.node, *part)) continue;
    if (of_message && (part->learned & set_of(event.domains)) == 0) continue;
    // A message whose sender is outside this part is judged by other parts, at least by the part
    // with only the message's domain. check_order() compares the positions of messages of different
    // domains.
    if (of_message && !learns(event.message.sender.node, *part)) continue;
    feed(*part, event);
  }
}

void Domains::feed(Part& part, const trace::Event& event) {
  const trace::Event* seen = &event;
  if (event.kind == trace::Kind::view && part.learned != 1) {
    scratch_ = event;
    std::erase_if(scratch_.members,
                  [&](const MemberId& member) { return !learns(member.node, part); });
    scratch_.primary = trace::Claim::absent;
    seen = &scratch_;
  }
  options_.live_order ? part.core.add(*seen) : part.causal.add(*seen);
}

void Domains::check_order(const trace::Event& event) {
  Last& last = last_[event.node];
  const std::pair before{last.seq, last.index};
  if (last.view == event.view && before >= std::pair{event.seq, event.index}) {
    violate(Property::e7_total_order, event,
            "a message of domain " + std::to_string(event.domains.first()) +
                " is delivered at position " + std::to_string(event.seq) + ", after one at " +
                std::to_string(last.seq));
  }
  last = {event.view, event.seq, event.index};
}

// E3: only the nodes of a domain deliver its messages. No part judges the deliveries of others.
void Domains::check_destinations(const trace::Event& event) {
  if ((set_of(event.node.node) & set_of(event.domains)) != 0) return;
  violate(Property::e3_integrity, event,
          "a message of domain " + std::to_string(event.domains.first()) +
              " is delivered at a node outside it");
}

void Domains::violate(Property property, const trace::Event& event, std::string text) {
  ++own_.violations_total;
  ++own_.violations_of[static_cast<std::size_t>(property)];
  if (own_.violations.size() >= options_.violations_max) return;
  own_.violations.push_back({property, std::move(text), event.at_ns, event.node});
}

std::uint64_t Domains::violations_total() const {
  std::uint64_t total = own_.violations_total;
  for (const auto& part : parts_) total += part->core.violations_total();
  return total;
}

// The figures count the messages for all nodes only, not the messages of domains.
Report Domains::finish() {
  Report all = std::move(own_);
  for (const auto& part : parts_) {
    part->causal.finish();
    const Report report = part->core.finish();
    if (part->learned == 1) all.figures = report.figures;
    add_violations(all, report, options_.violations_max, set_text(part->learned));
  }
  return all;
}

}  // namespace peal::oracle
