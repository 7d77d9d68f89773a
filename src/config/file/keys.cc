// SPDX-License-Identifier: Apache-2.0
#include "config/file/keys.h"

#include "config/schema.h"

namespace peal::config {
namespace {

static_assert(kClientsMessageBytesLeast == 2 * session::kMessageOverheadMax);

Key<File> socket_key() {
  Key<File> key = path_key<File>(
      {"", "socket",
       "the Unix socket for clients, such as `peal send`, `peal recv` "
       "and `peal status`"},
      100, "/run/peal/a.sock", [](auto& file) -> auto& { return file.socket; });
  key.absent = "NAME.sock beside this file";
  key.changes = Changes::never;
  return key;
}

std::vector<Key<File>> make_keys() {
  std::vector<Key<File>> all;
  const auto settings = [](auto& file) -> auto& { return file.settings; };
  bool top = true;
  for (const Key<Settings>& each : keys()) {
    if (top && !each.table.empty()) all.push_back(socket_key());  // the last key of the top level
    top = each.table.empty();
    all.push_back(key_of<File>(each, settings));
  }
  add_client_keys(all);
  return all;
}

}  // namespace

std::span<const Key<File>> file_keys() {
  static const std::vector<Key<File>> kKeys = make_keys();
  return kKeys;
}

}  // namespace peal::config
