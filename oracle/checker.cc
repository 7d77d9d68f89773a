// SPDX-License-Identifier: Apache-2.0
#include "oracle/checker.h"

#include <optional>

#include "oracle/causal.h"
#include "oracle/domain_sets.h"
#include "oracle/domains.h"
#include "oracle/history_judge.h"

namespace peal::oracle {

std::string_view property_id(Property property) {
  static constexpr std::array<std::string_view, kPropertyCount> kIds{
      "E1", "E2",      "E3",      "E4",      "E5",    "E6",    "E7",         "E8",
      "E9", "acyclic", "primary", "uniform", "chain", "early", "activation", "told"};
  return kIds[static_cast<std::size_t>(property)];
}

class Checker::Judge {
 public:
  explicit Judge(const Options& options)
      : live_(options.live_order), history_(options), causal_(history_, options) {
    if (options.genuine) {
      sets_.emplace(options);
    } else if (!options.domains.empty()) {
      domains_.emplace(options);
    }
  }

  void add(const trace::Event& event) {
    if (sets_) return sets_->add(event);
    if (domains_) return domains_->add(event);
    live_ ? history_.add(event) : causal_.add(event);
  }
  Report finish() {
    if (sets_) return sets_->finish();
    if (domains_) return domains_->finish();
    causal_.finish();
    return history_.finish();
  }
  std::uint64_t violations_total() const {
    if (sets_) return sets_->violations_total();
    return domains_ ? domains_->violations_total() : history_.violations_total();
  }

 private:
  bool live_;
  HistoryJudge history_;
  CausalOrder causal_;
  std::optional<Domains> domains_;
  std::optional<DomainSets> sets_;
};

Checker::Checker(const Options& options) : judge_(std::make_unique<Judge>(options)) {}
Checker::~Checker() = default;
Checker::Checker(Checker&&) noexcept = default;
Checker& Checker::operator=(Checker&&) noexcept = default;

void Checker::add(const trace::Event& event) { judge_->add(event); }
std::uint64_t Checker::violations_total() const { return judge_->violations_total(); }
Report Checker::finish() { return judge_->finish(); }

}  // namespace peal::oracle
