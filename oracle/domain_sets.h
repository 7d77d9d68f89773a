// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "oracle/across_judge.h"
#include "oracle/causal.h"
#include "oracle/checker.h"
#include "oracle/domain_map.h"
#include "oracle/history_judge.h"

namespace peal::oracle {

/// Judges a history with Options::genuine. For each domain, the messages to it at its nodes form a
/// history with all promised properties, whoever sent them; AcrossJudge compares the domains.
class DomainSets {
 public:
  explicit DomainSets(const Options& options);

  void add(const trace::Event& event);
  Report finish();
  std::uint64_t violations_total() const;

 private:
  struct Part {
    Part(const Options& options, DomainId its_domain)
        : domain(its_domain), core(options), causal(core, options) {}
    DomainId domain;
    HistoryJudge core;
    CausalOrder causal;
  };

  bool concerns(const Part& part, const trace::Event& event) const;

  const Options options_;
  const DomainMap domains_;
  AcrossJudge across_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace peal::oracle
