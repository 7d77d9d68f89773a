// SPDX-License-Identifier: Apache-2.0
#include "oracle/genuineness.h"

#include "trace/json.h"

namespace peal::oracle {
namespace {

const trace::Names& names_in(const GenuinenessChecker::Options& options) {
  static const trace::Names nobody;
  return options.names == nullptr ? nobody : *options.names;
}

}  // namespace

GenuinenessChecker::GenuinenessChecker(const Options& options)
    : options_(options), domains_(options.domains) {}

void GenuinenessChecker::add_message(const trace::MessageId& id, DomainSet domains) {
  messages_[id] = domains_.destinations(domains);
}

void GenuinenessChecker::add(const Transfer& transfer) {
  ++transfers_;
  if (!transfer.messages.empty()) ++naming_;
  if (transfer.from == transfer.to) return;
  for (const trace::MessageId& id : transfer.messages) check_message(transfer, id);
  if (!transfer.messages.empty()) return;
  if (domains_.of(transfer.from).meets(domains_.of(transfer.to))) return;
  violate(transfer, "names no message, although the two are in no domain together");
}

void GenuinenessChecker::check_message(const Transfer& transfer, const trace::MessageId& id) {
  const std::string message = trace::text_of(id, names_in(options_));
  const auto known = messages_.find(id);
  if (known == messages_.end()) return violate(transfer, "names " + message + ", which is unknown");
  for (const NodeId node : {transfer.from, transfer.to}) {
    if (node == id.sender.node || domains_.of(node).meets(known->second)) continue;
    std::string to;
    for (const DomainId domain : known->second) {
      to += (to.empty() ? "" : ",") + std::to_string(domain);
    }
    return violate(transfer, "names " + message + " to the domains " + to + ", which " +
                                 name(node) + " neither sent nor is to learn");
  }
}

void GenuinenessChecker::violate(const Transfer& transfer, const std::string& what) {
  ++violations_total_;
  if (violations_.size() >= options_.violations_max) return;
  violations_.push_back(
      {"what " + name(transfer.from) + " sends to " + name(transfer.to) + " " + what,
       transfer.at_ns});
}

std::string GenuinenessChecker::name(NodeId node) const { return names_in(options_).name(node); }

}  // namespace peal::oracle
