// SPDX-License-Identifier: Apache-2.0
#include "reference_companies.h"

#include <algorithm>
#include <map>

namespace peal::oracle::test {
namespace {

using trace::MessageId;

using Stays = std::vector<const Stay*>;

Sequence with_places(const Sequence& messages, const ServiceOf& service) {
  Sequence out;
  for (const MessageId& id : messages) {
    if (has_a_place(service(id))) out.push_back(id);
  }
  return out;
}

/// E7: at each member, positions are at least 1 and ascend.
bool ascends(const Stay& stay, const ServiceOf& service) {
  Position last{};
  bool fine = true;
  for (const MessageId& id : with_places(delivered_in(stay), service)) {
    const Position at = stay.places.at(id);
    if (at.first == 0 || at <= last) fine = false;
    last = std::max(last, at);
  }
  return fine;
}

/// E7: the members of a company deliver prefixes of one sequence, with the same positions.
bool has_one_order(const Stays& company, const ServiceOf& service) {
  std::vector<Sequence> orders;
  for (const Stay* stay : company) orders.push_back(with_places(delivered_in(*stay), service));
  if (!beginnings_of_one(orders)) return false;
  for (const Stay* a : company) {
    for (const Stay* b : company) {
      for (const auto& [id, position] : a->places) {
        if (!has_a_place(service(id)) || !b->places.contains(id)) continue;
        if (b->places.at(id) != position) return false;
      }
    }
  }
  return true;
}

/// E8: two safe messages have one order at all members of a view, if any member delivered one of
/// the two before the transitional view.
bool safe_have_one_order(const Stays& view, const ServiceOf& service) {
  std::set<MessageId> early;
  for (const Stay* stay : view) early.insert(stay->regular.begin(), stay->regular.end());
  std::vector<Sequence> pairs;
  for (const Stay* stay : view) {
    Sequence safe;
    for (const MessageId& id : delivered_in(*stay)) {
      if (is_safe(service(id))) safe.push_back(id);
    }
    for (std::size_t i = 0; i < safe.size(); ++i) {
      for (std::size_t k = i + 1; k < safe.size(); ++k) {
        if (early.contains(safe[i]) || early.contains(safe[k])) pairs.push_back({safe[i], safe[k]});
      }
    }
  }
  return !in_a_circle(pairs);
}

}  // namespace

bool has_a_place(Service service) { return service != Service::causal && service != Service::fifo; }

bool same_but_unplaced(const Sequence& one, const Sequence& other, const ServiceOf& service) {
  return with_places(one, service) == with_places(other, service) &&
         std::set<MessageId>(one.begin(), one.end()) ==
             std::set<MessageId>(other.begin(), other.end());
}

std::set<std::string> judge_companies(const std::vector<Stay>& stays, const Stays& here,
                                      const ServiceOf& service) {
  std::map<Way, Stays> left;
  std::map<ViewId, Stays> ended, all;
  for (const Stay& stay : stays) {
    all[stay.view].push_back(&stay);
    if (stay.way.has_value()) left[*stay.way].push_back(&stay);
  }
  for (const Stay* stay : here) ended[stay->view].push_back(stay);
  std::vector<Stays> companies;
  for (const auto& [way, company] : left) companies.push_back(company);
  for (const auto& [view, company] : ended) companies.push_back(company);

  std::set<std::string> broken;
  for (const Stay& stay : stays) {
    if (!ascends(stay, service)) broken.insert("E7");
  }
  for (const Stays& company : companies) {
    if (!has_one_order(company, service)) broken.insert("E7");
    std::vector<Sequence> orders;
    for (const Stay* stay : company) orders.push_back(with_places(delivered_in(*stay), service));
    if (in_a_circle(orders)) broken.insert("acyclic");
  }
  for (const auto& [view, members] : all) {
    if (!safe_have_one_order(members, service)) broken.insert("E8");
  }
  return broken;
}

}  // namespace peal::oracle::test
