// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "order/descriptor.h"
#include "order/field.h"
#include "order/paxos/options.h"

namespace peal::order::paxos {

extern const Descriptor kDescriptor;

// Used by engines that are variants of this engine.

/// Derives the engine's configuration from a setup.
Config config_of(const Setup& setup);

inline constexpr Option kAcceptors{
    .key = "paxos.acceptors",
    .kind = Option::Kind::acceptors,
    .cluster_wide = true,
    .help =
        "which nodes vote, by their numbers; a majority of them must be there for anything to "
        "be ordered. `peal reload` changes it, as it changes the list of nodes",
    .absent = "all of up to two nodes, three of up to four, else the five lowest"};

/// The options of acceptors that users can set.
struct Kept {
  Storage storage = Storage::disk;
};
inline constexpr std::string_view kStorages[] = {"disk", "memory"};
inline constexpr std::array kKept{field<&Kept::storage>(
    {.key = "paxos.storage",
     .words = kStorages,
     .cluster_wide = true,
     .help = "where acceptors keep their votes. \"disk\": in data_dir; what was ordered outlives "
             "all crashes. \"memory\": in their processes alone, without data_dir, which is "
             "faster. An acceptor that restarts has then lost its votes, and is taken in anew by "
             "the others, as long as most of them kept theirs. If most are lost at once nothing is "
             "ordered any more: stop all nodes, then start them; they begin anew, and what was "
             "ordered is gone. The first start waits for all acceptors. Never start nodes that "
             "were taken out of the list with a file that still has the old one"})};
Kept kept_of(const OptionValues& values);
/// The options that users can set, followed by the options that only tests and the simulator set.
std::vector<Option> with_internal(std::vector<Option> chosen_by_users);

Needs needs(const OptionValues& values, std::size_t nodes);

}  // namespace peal::order::paxos
