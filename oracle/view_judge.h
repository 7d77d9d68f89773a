// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "oracle/verdict.h"

namespace peal::oracle {

/// Judges view changes: the properties E1, E2, E4, E5 and primary. With Options::quorum, also the
/// part of the property chain that is about views. With Options::companies, CompanyJudge judges E4.
class ViewJudge {
 public:
  explicit ViewJudge(Verdict& verdict) : v_(verdict) {}

  void install(Index member, const trace::Event& event);
  void install_transitional(Index member, const trace::Event& event);

 private:
  void check_number(Index member, Index index, const trace::Event& event);
  std::vector<Index> member_list(Index member, const trace::Event& event);
  bool check_succession(Index member, Index view, const trace::Event& event);
  void announce(Index member, Index index, std::vector<Index> members, const trace::Event& event);
  void open_span(Index member, Index index, const trace::Event& event);
  void close_span(Index member, Index next, const trace::Event& event);
  void check_self_delivery(Index member, const Span& span, Index next, const trace::Event& event);
  void check_atomicity(const Transition& transition, Index index, bool tails,
                       const trace::Event& event);
  bool differ_in_causal_only(const Span& a, const Span& b, bool tails) const;
  void check_primary(Index member, Index index, const trace::Event& event);
  std::uint32_t node_count(const View& view) const;
  bool share_a_node(const View& a, const View& b) const;

  Verdict& v_;
  std::unordered_map<std::uint64_t, Index> numbers_;  ///< by view number: the regular view
};

}  // namespace peal::oracle
