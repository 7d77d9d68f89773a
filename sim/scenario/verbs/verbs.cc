// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/verbs.h"

#include <map>

namespace peal::sim {

const Verb* find_verb(std::string_view name) {
  static const std::map<std::string_view, const Verb*> kByName = [] {
    std::map<std::string_view, const Verb*> all;
    for (const std::span<const Verb> family :
         {cluster_verbs(), run_verbs(), node_verbs(), disk_verbs(), send_verbs(), client_verbs(),
          link_verbs(), packet_verbs(), expect_verbs()}) {
      for (const Verb& verb : family) all.emplace(verb.name, &verb);
    }
    return all;
  }();
  const auto at = kByName.find(name);
  return at == kByName.end() ? nullptr : at->second;
}

}  // namespace peal::sim
