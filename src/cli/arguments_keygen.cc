// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments_builder.h"

namespace peal::cli {

void build_keygen(Builder& b, KeygenCommand& c) {
  b.app().footer(
      "Makes and changes the file with the secret keys that the nodes of a cluster\n"
      "share, and that packets between them are sealed with: see key_file in `peal node\n"
      "--print-config`. It is text that explains itself, is the same on every node, and\n"
      "nobody but its owner may read it.\n"
      "Without an option, FILE must not be there yet.\n"
      "\nA new key for a running cluster, in three steps. After each, bring the file to\n"
      "every node, and `kill -HUP` its `peal node`; go on when all have said\n"
      "`reloaded`:\n"
      "  peal keygen --add FILE              1. a second key, which all accept\n"
      "  peal keygen --use 3f9a0c12 FILE     2. send with it; accept the old one\n"
      "  peal keygen --remove 8b1744e0 FILE  3. the old key is accepted no more\n"
      "\nExamples:\n"
      "  peal keygen peal.keys         a new file with one key, mode 0600\n"
      "  peal keygen --list peal.keys  which keys there are, without the secrets");
  const auto id = [&b, &c](const std::string& name, KeygenAction action, const std::string& help) {
    b.value(name, "ID", "the id of a key, 8 hexadecimal digits as in 3f9a0c12", help,
            [&c, action](const std::string& text) {
              const auto parsed = seal::parse_key_id(text);
              if (parsed) c.key = *parsed;
              c.actions.push_back(action);
              return parsed.has_value();
            });
  };
  const auto flag = [&b, &c](const std::string& name, KeygenAction action,
                             const std::string& help) {
    b.app().add_flag_callback(
        name, [&c, action] { c.actions.push_back(action); }, wrapped(help));
  };
  flag("--add", KeygenAction::add, "add a new key, to accept");
  id("--use", KeygenAction::use, "send with this key of the file from now on");
  id("--remove", KeygenAction::remove, "take this key out; not the one to send with");
  flag("--list", KeygenAction::list,
       "print the keys' ids, what they are for and when they were made");
  b.files(c.files, false, "the key file");
}

std::string keygen_conflict(const KeygenCommand& command) {
  if (command.actions.size() > 1) {
    return "more than one of --add, --use, --remove and --list: accepted is one at a time, since "
           "every node has to follow each step";
  }
  if (command.files.empty()) return "FILE is missing: accepted is one key file";
  if (command.files.size() > 1) {
    return quote(command.files[1]) + " is too much: accepted is one key file";
  }
  if (command.files[0].empty()) return "FILE = \"\": accepted is one key file";
  return {};
}

}  // namespace peal::cli
