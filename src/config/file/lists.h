// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/file/file.h"
#include "config/file/text.h"
#include "session/options.h"

// The arrays of tables of a configuration file, here called lists: [[nodes]], the nodes of the
// cluster and their addresses; [[domain]], subsets of the nodes with orders of their own;
// [[client]] and [[group]], rules for clients and groups.

namespace peal::config {

/// An entry of [[nodes]].
struct NodeRow {
  std::string name;
  io::HostPort address;
  std::uint32_t number = 0;  ///< 0: the index of the entry in the file, from 1
  std::uint32_t line = 0;    ///< the line of the address
};

const List<NodeRow>& node_list();
const List<DomainEntry>& domain_list();
const List<session::ClientRule>& client_list();
const List<session::GroupRule>& group_list();

/// The maximum number of [[client]] tables, and of [[group]] tables.
inline constexpr std::size_t kRulesMax = 1'000;

/// The accepted form of a name or a prefix of names, for "accepted is".
inline constexpr std::string_view kAcceptedPattern =
    "a name of 1 to 128 bytes, or its beginning and '*'";
bool is_pattern(const std::string& text);

// Each of the functions below reads all tables of one list into `out`. The error is one line, like
// the error of parse_file().

Status read_nodes(const toml::key& name, const toml::node& node, File& out);
Status read_domains(const toml::key& name, const toml::node& node, File& out);
Status read_clients(const toml::key& name, const toml::node& node, File& out);
Status read_groups(const toml::key& name, const toml::node& node, File& out);

}  // namespace peal::config
