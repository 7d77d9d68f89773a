// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_notices.h"

#include "io/fabric/fabric.h"

namespace peal::runtime {
namespace {

using io::fabric::Offence;

std::string offender_text(const Offence& offence, const trace::Names& names) {
  if (offence.peer.node == NodeId{}) {
    return "a process (" + offence.from + ") that has not proved which node it is";
  }
  return "node " + names.name(offence.peer.node) + " (epoch " + std::to_string(offence.peer.epoch) +
         ")";
}

/// What to do about a process that does what no node of this release does.
std::string remedy_text(const Offence& offence, const trace::Names& names, bool is_keyed) {
  if (!is_keyed) {
    return "run the same version on all nodes; if it does, another process reaches this node's "
           "ports, and this cluster has no key: set key_file (peal keygen)";
  }
  if (offence.peer.node == NodeId{}) {
    return "it has done nothing else; if it is a node, run the same version there, else find which "
           "program connects to this node";
  }
  const std::string name = names.name(offence.peer.node);
  return "run the same version on " + name + " as here, and restart it; if it does, another " +
         "process has the cluster's key: change that (peal keygen)";
}

}  // namespace

std::string offence_text(const Offence& offence, const trace::Names& names, bool is_keyed) {
  const std::string who = "memory: " + offender_text(offence, names);
  switch (offence.kind) {
    case Offence::Kind::rule:
      return who + " broke a rule: " + offence.what +
             "; its connection was ended: " + remedy_text(offence, names, is_keyed);
    case Offence::Kind::memory:
      return who + " gave memory that is not safe to write: " + offence.what +
             "; nothing is written there: " + remedy_text(offence, names, is_keyed);
    case Offence::Kind::unmapped:
      return who + " cannot be written to: " + offence.what +
             "; nothing is written there: give this machine more memory, or this process more "
             "mappings (sysctl vm.max_map_count), or set fabric = \"tcp\"";
  }
  return who;
}

std::optional<std::string> MemoryNotices::next(io::fabric::Fabric& memory,
                                               const trace::Names& names, bool is_keyed) {
  if (!memory.problem().empty() && memory.problem() != problem_) {
    problem_ = memory.problem();
    return problem_;
  }
  if (!said_verbs_ && !memory.verbs_failure().empty()) {
    said_verbs_ = true;
    return memory.verbs_failure();
  }
  if (const auto offence = memory.take_offence()) return offence_text(*offence, names, is_keyed);
  return std::nullopt;
}

}  // namespace peal::runtime
