// SPDX-License-Identifier: Apache-2.0
#include "oracle/groups.h"

#include "oracle/group_core.h"

namespace peal::oracle {

std::string_view group_property_id(GroupProperty property) {
  static constexpr std::array<std::string_view, kGroupPropertyCount> kIds{"G1", "G2", "G3", "G4",
                                                                          "G5", "G6", "G7", "G8"};
  return kIds[static_cast<std::size_t>(property)];
}

class GroupChecker::Judge : public GroupCore {
 public:
  using GroupCore::GroupCore;
};

GroupChecker::GroupChecker() : GroupChecker(Options()) {}
GroupChecker::GroupChecker(const Options& options) : judge_(std::make_unique<Judge>(options)) {}
GroupChecker::~GroupChecker() = default;
GroupChecker::GroupChecker(GroupChecker&&) noexcept = default;
GroupChecker& GroupChecker::operator=(GroupChecker&&) noexcept = default;

void GroupChecker::connected(std::int64_t at, const ClientId& client,
                             std::string_view private_name) {
  judge_->connected(at, client, private_name);
}

void GroupChecker::sent(std::int64_t at, const GroupMessageId& message,
                        std::span<const std::string> groups, std::uint64_t hash, OwnCopy own) {
  judge_->sent(at, message, groups, hash, own);
}

void GroupChecker::delivered(std::int64_t at, const ClientId& to, const GroupMessageId& message,
                             std::span<const std::string> groups, std::uint64_t hash) {
  judge_->delivered(at, to, message, groups, hash);
}

void GroupChecker::viewed(std::int64_t at, const ClientId& to, const std::string& group,
                          const GroupView& view) {
  judge_->viewed(at, to, group, view);
}

void GroupChecker::transitional(std::int64_t at, const ClientId& to, const std::string& group) {
  judge_->transitional(at, to, group);
}

void GroupChecker::left(std::int64_t at, const ClientId& to, const std::string& group) {
  judge_->left(at, to, group);
}

void GroupChecker::gapped(std::int64_t at, const ClientId& to, const std::string& group) {
  judge_->gapped(at, to, group);
}

void GroupChecker::ordered(std::int64_t at, MemberId node, const GroupMessageId& message,
                           std::span<const std::string> groups) {
  judge_->ordered(at, node, message, groups);
}

void GroupChecker::entered(std::int64_t /*at*/, MemberId node, const ViewId& view) {
  judge_->entered(node, view);
}

void GroupChecker::gone(std::int64_t at, const ClientId& client) { judge_->gone(at, client); }

void GroupChecker::exchanged(std::int64_t at, MemberId node, const ViewId& view,
                             std::uint64_t table_hash) {
  judge_->exchanged(at, node, view, table_hash);
}

void GroupChecker::reached(std::int64_t at, const ClientId& client, const ViewId& view) {
  judge_->reached(at, client, view);
}

void GroupChecker::final_table(MemberId node, const ViewId& view,
                               std::span<const GroupTableEntry> entries) {
  judge_->final_table(node, view, entries);
}

std::uint64_t GroupChecker::violations_total() const { return judge_->violations_total(); }
GroupReport GroupChecker::finish() { return judge_->finish(); }

}  // namespace peal::oracle
