// SPDX-License-Identifier: Apache-2.0
#include "oracle/groups.h"

#include <utility>
#include <vector>

#include "oracle/arrival_judge.h"
#include "oracle/gap_judge.h"
#include "oracle/group_verdict.h"
#include "oracle/group_view_judge.h"
#include "oracle/message_judge.h"
#include "oracle/reach_judge.h"
#include "oracle/table_judge.h"

namespace peal::oracle {

std::string_view group_property_id(GroupProperty property) {
  static constexpr std::array<std::string_view, kGroupPropertyCount> kIds{
      "G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10"};
  return kIds[static_cast<std::size_t>(property)];
}

struct GroupChecker::Judge {
  explicit Judge(const Options& options) : verdict(options) {}

  GroupReport finish() {
    tables.finish();
    views.finish();
    messages.finish_order();
    reach.finish();
    arrivals.finish();
    GroupFigures& figures = verdict.report.figures;
    figures.states = verdict.history.states.size();
    std::vector<bool> seen(verdict.history.names.size(), false);
    for (const GroupState& state : verdict.history.states) {
      if (!seen[state.group]) ++figures.groups;
      seen[state.group] = true;
    }
    return std::move(verdict.report);
  }

  GroupVerdict verdict;
  GapJudge gaps{verdict};
  MessageJudge messages{verdict, gaps};
  GroupViewJudge views{verdict, gaps, messages};
  TableJudge tables{verdict, gaps, messages};
  ReachJudge reach{verdict};
  ArrivalJudge arrivals{verdict};
};

GroupChecker::GroupChecker() : GroupChecker(Options()) {}
GroupChecker::GroupChecker(const Options& options) : judge_(std::make_unique<Judge>(options)) {}
GroupChecker::~GroupChecker() = default;
GroupChecker::GroupChecker(GroupChecker&&) noexcept = default;
GroupChecker& GroupChecker::operator=(GroupChecker&&) noexcept = default;

void GroupChecker::set_domains(GroupDomains domains) {
  judge_->reach.set_domains(std::move(domains));
}

void GroupChecker::connected(std::int64_t at, const ClientId& client,
                             std::string_view private_name) {
  judge_->views.connected(at, client, private_name);
  judge_->arrivals.connected(client);
}

void GroupChecker::sent(std::int64_t at, const GroupMessageId& message,
                        std::span<const std::string> groups, std::uint64_t hash, OwnCopy own) {
  judge_->messages.sent(at, message, groups, hash, own);
}

void GroupChecker::delivered(std::int64_t at, const ClientId& to, const GroupMessageId& message,
                             std::span<const std::string> groups, std::uint64_t hash) {
  judge_->messages.delivered(at, to, message, groups, hash);
  judge_->arrivals.delivered(to, message);
}

void GroupChecker::viewed(std::int64_t at, const ClientId& to, const std::string& group,
                          const GroupView& view) {
  judge_->views.viewed(at, to, group, view);
}

void GroupChecker::transitional(std::int64_t at, const ClientId& to, const std::string& group) {
  judge_->views.transitional(at, to, group);
}

void GroupChecker::left(std::int64_t at, const ClientId& to, const std::string& group) {
  judge_->views.left(at, to, group);
  judge_->arrivals.left(to, group);
}

void GroupChecker::gapped(std::int64_t at, const ClientId& to, const std::string& group) {
  judge_->gaps.gapped(at, to, group);
}

void GroupChecker::ordered(std::int64_t at, MemberId node, const GroupMessageId& message,
                           std::span<const std::string> groups, Placing placing) {
  judge_->gaps.ordered(at, node, message, groups);
  judge_->messages.ordered(node, message, placing);
  judge_->reach.ordered(at, node, message, groups);
  judge_->arrivals.ordered(at, node, message, groups);
}

void GroupChecker::entered(std::int64_t /*at*/, MemberId node, const ViewId& view) {
  judge_->verdict.companies.entered(node, view);
  judge_->gaps.entered(node, view);
  judge_->reach.entered(node);
}

void GroupChecker::parted(std::int64_t /*at*/, MemberId node, const ViewId& next) {
  judge_->verdict.companies.parted(node, next);
}

void GroupChecker::gone(std::int64_t at, const ClientId& client) {
  judge_->views.gone(at, client);
  judge_->arrivals.gone(client);
}

void GroupChecker::exchanged(std::int64_t at, MemberId node, const ViewId& view,
                             std::uint64_t table_hash) {
  judge_->tables.exchanged(at, node, view, table_hash);
}

void GroupChecker::reached(std::int64_t at, const ClientId& client, const ViewId& view) {
  judge_->gaps.reached(at, client, view);
}

void GroupChecker::final_table(MemberId node, const ViewId& view,
                               std::span<const GroupTableEntry> entries) {
  judge_->tables.final_table(node, view, entries);
  judge_->reach.ended(node);
  judge_->arrivals.ended(node);
}

std::uint64_t GroupChecker::violations_total() const {
  return judge_->verdict.report.violations_total;
}
GroupReport GroupChecker::finish() { return judge_->finish(); }

}  // namespace peal::oracle
