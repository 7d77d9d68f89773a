// SPDX-License-Identifier: Apache-2.0
#include "oracle/domain_sets.h"

#include <string>
#include <utility>

namespace peal::oracle {
namespace {

using trace::Kind;

Options options_of_part(const Options& options, std::size_t domain) {
  Options part = options;
  part.sparse = true;  // positions are keys, which messages of other domains use up, too
  const bool counted = options.universe != 0 && !options.domains.empty();
  if (counted) part.universe = static_cast<std::uint32_t>(options.domains[domain - 1].size());
  part.domains.clear();
  return part;
}

void add_figures(Figures& to, const Figures& from) {
  to.deliveries += from.deliveries;
  to.told_early += from.told_early;
  to.views += from.views;
  to.installs += from.installs;
  to.transitional_views += from.transitional_views;
  to.transitional_installs += from.transitional_installs;
  to.transitional_deliveries += from.transitional_deliveries;
  to.safe_deliveries += from.safe_deliveries;
}

}  // namespace

DomainSets::DomainSets(const Options& options)
    : options_(options), domains_(options.domains), across_(options, domains_) {
  for (const DomainId domain : domains_.all()) {
    parts_.push_back(std::make_unique<Part>(options_of_part(options, domain), domain));
  }
}

void DomainSets::add(const trace::Event& event) {
  if (!across_.add(event)) return;
  for (const auto& part : parts_) {
    if (!concerns(*part, event)) continue;
    options_.live_order ? part->core.add(event) : part->causal.add(event);
  }
}

bool DomainSets::concerns(const Part& part, const trace::Event& event) const {
  const bool here = domains_.of(event.node.node).has(part.domain);
  const bool addressed = domains_.destinations(event.domains).has(part.domain);
  switch (event.kind) {
    case Kind::submit: return addressed;
    // A sender that does not deliver the message learns its place by an answer, which names no
    // view.
    case Kind::originate: return here && addressed && event.view.number != 0;
    case Kind::deliver:
    case Kind::early: return here && addressed;
    case Kind::start:
    case Kind::crash:
    case Kind::leave:
    case Kind::view: return here;
    case Kind::lost: break;
  }
  return false;
}

std::uint64_t DomainSets::violations_total() const {
  std::uint64_t total = across_.violations_total();
  for (const auto& part : parts_) total += part->core.violations_total();
  return total;
}

Report DomainSets::finish() {
  Report all = across_.finish();
  for (const auto& part : parts_) {
    part->causal.finish();
    const Report report = part->core.finish();
    add_figures(all.figures, report.figures);
    add_violations(all, report, options_.violations_max,
                   parts_.size() == 1 ? "" : "domain " + std::to_string(part->domain) + ": ");
  }
  return all;
}

}  // namespace peal::oracle
