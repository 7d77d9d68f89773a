// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <algorithm>

#include "cli/arguments_builder.h"
#include "cli/text.h"
#include "config/file/policies.h"
#include "config/schema.h"

namespace peal::cli {
namespace {

const std::vector<std::string> kCommands = {"up",    "node", "send",  "recv",   "status", "reload",
                                            "check", "sim",  "bench", "keygen", "version"};

constexpr std::size_t kHelpColumn = 26;

constexpr const char* kToHelp =
    "a node's socket, or a folder with such sockets; without it, the folder that `peal up` uses";

void build_up(Builder& b, UpCommand& c) {
  b.app().footer(
      "Starts a cluster on this machine: real processes that talk over the loopback\n"
      "interface. No root, no set-up: free ports and a folder for sockets and logs are\n"
      "found by themselves.\n"
      "\nExamples:\n"
      "  peal up                         three nodes; Ctrl-C stops them\n"
      "  peal recv --views               in a second terminal: see what is delivered\n"
      "  seq 1000 | peal send            in a third: send a thousand messages\n"
      "  peal up --nodes 5 --dir /tmp/c  five nodes, with sockets in /tmp/c");
  b.number<std::uint32_t>("--nodes", "N", c.nodes, 1, 32, "how many nodes (3)");
  b.path("--dir", "DIR", c.dir, "folder for the configuration, sockets, logs and traces");
  b.order(c.order);
  b.dissemination(c.options);
  b.ensembles(c.options);
  b.merge(c.options);
  b.storage(c.options);
  b.domains(c.domains,
            ": d1, d2 and so on. Groups whose names begin with d2 are of d2, and so on; all others "
            "are of d1");
  b.fabric(c.options);
  b.data(c.streams);
  b.flag("--trace", c.trace, "write DIR/NAME.trace for each node, for `peal check`");
}

void build_node(Builder& b, NodeCommand& c) {
  b.app().footer(
      "Runs one node until it gets SIGINT or SIGTERM, and then leaves the others in\n"
      "good order. It serves clients, programs that join groups and send to them, at\n"
      "the socket of the configuration, or with TLS. SIGHUP makes it read rules, limits\n"
      "and keys again. It writes one line per event that matters to standard error.\n"
      "\nExamples:\n"
      "  peal node --print-config > peal.toml   every key, and what is accepted\n"
      "  peal node --config peal.toml --name a  run node a of that file\n"
      "  peal status --to a.sock                ask it how it is");
  b.path("--config", "FILE", c.config, "the configuration, in TOML");
  b.value("--name", "NAME", std::string(config::kAcceptedName),
          "which node of the file this one is", [&c](const std::string& text) {
            if (!config::is_name(text)) return false;
            c.name = text;
            return true;
          });
  b.path("--trace", "FILE", c.trace, "write what the application sees, for `peal check`");
  b.flag("--json", c.json, "log lines as JSON objects");
  b.flag("--print-config", c.print_config, "print a configuration file that explains itself");
}

void build_send(Builder& b, SendCommand& c) {
  b.app().footer(
      "Sends each line of standard input, or of the files, as one message to a group,\n"
      "or to several at once. Ends with exit status 0 when all of them were delivered\n"
      "and every node of the view has them.\n"
      "\nExamples:\n"
      "  echo hello | peal send                       to the group all of `peal up`\n"
      "  peal send --to /tmp/c/n2.sock story.txt      through node n2, line by line\n"
      "  peal send --group news --group logs day.txt  to two groups, at one place\n"
      "  peal send --service safe orders.txt          delivered once every node has it");
  b.path("--to", "PATH", c.to, kToHelp);
  b.several("--group", "GROUP",
            "a group, 1 to 128 bytes without control characters, or a private name "
            "\"#NAME#NODE\", up to 64 times",
            "the groups to send to; without it, the group all", c.groups, group::kTargetsMax,
            group::is_target);
  b.client_name(c.name);
  b.service(c.service);
  b.files(c.files, false, "read these instead of standard input; - is standard input");
}

void build_recv(Builder& b, RecvCommand& c) {
  b.app().footer(
      "Joins groups and prints each message to them as one line, in the order that is\n"
      "the same for all. Lines that start with # tell of members (--views), of digests\n"
      "(--digest), and of messages that were dropped because they were not read fast\n"
      "enough (--policy drop).\n"
      "\nExamples:\n"
      "  peal recv --views              messages and members, until Ctrl-C\n"
      "  peal recv --group a --group b  what is sent to a, to b or to both, each once\n"
      "  peal recv --count 100 --json   one JSON object per message, then stop\n"
      "  peal recv --digest             no messages: a digest of the order of each view\n"
      "                                 of a group, equal at all members that went\n"
      "                                 through it");
  b.path("--to", "PATH", c.to, kToHelp);
  b.several("--group", "GROUP",
            "1 to 128 bytes without control characters, not beginning with '#', up to 64 times",
            "a group to join; without it, the group all", c.groups, group::kTargetsMax,
            group::is_group_name);
  b.client_name(c.name);
  b.value("--count", "N", "a whole number from 1 to 1000000000000000000", "stop after N messages",
          [&c](const std::string& text) {
            c.count = number_in<std::uint64_t>(text, 1, 1'000'000'000'000'000'000);
            return c.count.has_value();
          });
  b.value("--policy", "POLICY", config::kAcceptedPolicy,
          "if messages are not read fast enough: all senders wait (block), messages go to the "
          "node's disk and come back in order (spill), are dropped (drop), or this program ends "
          "(evict); without it, as the node's configuration says",
          [&c](const std::string& text) {
            const auto policy = config::parse_policy(text);
            if (policy) c.policy = *policy;
            return policy.has_value();
          });
  b.flag("--views", c.views, "print the members of the groups, first when joined");
  b.flag("--json", c.json, "one JSON object per line");
  b.flag("--digest", c.digest, "instead of messages, a digest of their order for each view");
}

void build_status(Builder& b, StatusCommand& c) {
  b.app().footer(
      "Shows each node's view, members and counters, and what it waits for.\n"
      "\nExamples:\n"
      "  peal status                               the nodes of `peal up`\n"
      "  peal status --to /tmp/c --json            for programs\n"
      "  peal status --clients '#'                 also clients, and what they wait for\n"
      "  peal status --wait members=3 --timeout 5  return when three are in one view");
  b.path("--to", "PATH", c.to, kToHelp);
  b.flag("--json", c.json, "JSON");
  b.flag("--views", c.views, "also the views of the past, with a digest of the order in each");
  b.value("--clients", "PREFIX", "the beginning of a name, as '#alice'; '#' is all",
          "also its clients whose names begin with PREFIX, as '#alice' does, up to 100: what each "
          "sent and received, what waits for it, and what it waits for itself",
          [&c](const std::string& text) {
            c.clients = text;
            return text.starts_with("#");
          });
  b.value("--wait", "WHAT", "members=N (1 to 128) or delivered=N",
          "return only when it is true: members=N, all nodes shown are in one view of N members; "
          "delivered=N, each has delivered N messages",
          [&c](const std::string& text) {
            const auto value_of = [&text](std::string_view key, std::uint64_t minimum,
                                          std::uint64_t maximum) {
              return text.starts_with(key)
                         ? number_in(std::string_view(text).substr(key.size()), minimum, maximum)
                         : std::nullopt;
            };
            if (const auto members = value_of("members=", 1, config::kNodesMax)) {
              c.wait_members = static_cast<std::uint32_t>(*members);
              return true;
            }
            const auto delivered = value_of("delivered=", 0, ~std::uint64_t{0});
            if (delivered) c.wait_delivered = delivered;
            return delivered.has_value();
          });
  b.number<double>("--timeout", "SECONDS", c.timeout_s, 0, 86'400,
                   "give up on --wait after so long (10)");
}

void build_reload(Builder& b, ReloadCommand& c) {
  b.app().footer(
      "Has nodes read their configuration files again, as SIGHUP does, and says what\n"
      "each of them answers: rules and limits of clients, secrets, certificates and\n"
      "keys, the list of nodes, and which of them are acceptors.\n"
      "A change of a key that cannot change while a node runs is refused, and then\n"
      "nothing of the file is taken.\n"
      "\nTo add a node: write it into [[nodes]] on all nodes, reload each, and start it.\n"
      "To remove one: stop it, take it out of [[nodes]] on the others, and reload each.\n"
      "Nodes that stay keep their numbers: if their places in the file change, write\n"
      "number = N. The new list counts once all nodes of the view have it; `peal\n"
      "status` says what it waits for.\n"
      "\nExamples:\n"
      "  peal reload --to /run/peal/a.sock  one node\n"
      "  peal reload                        the nodes of `peal up`");
  b.path("--to", "PATH", c.to, kToHelp);
}

void build_check(Builder& b, CheckCommand& c) {
  b.app().footer(
      "Reads the traces of all nodes of one run and checks what the applications saw\n"
      "against the guarantees of Peal: one order, agreed views, nothing lost, nothing\n"
      "twice.\n"
      "Exit status: 0 all promises kept, 1 violations, 2 a file that is not a trace.\n"
      "\nExamples:\n"
      "  peal up --trace --dir /tmp/c  run a while, send something, Ctrl-C\n"
      "  peal check /tmp/c/*.trace");
  b.files(c.files, true, "trace files, of all nodes of one run");
  b.flag("--json", c.json, "JSON");
}

void build_version(Builder& b, VersionCommand&) {
  b.app().footer(
      "\nExamples:\n"
      "  peal version");
}

/// Converts an error of CLI11 to one line for a person.
std::string explain(const CLI::ParseError& error, Builder& builder, const std::string& command,
                    std::span<const std::string> arguments) {
  const std::string where = command + ": ";
  std::string what = error.what();
  // A check in Builder returns " = …: accepted is …". CLI11 puts "--nodes: " before this text.
  // Without the first ": ", the result is "--nodes = …: accepted is …".
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    if (const auto mark = what.find(":  = "); mark != std::string::npos) what.erase(mark, 2);
    return where + what;
  }
  std::vector<std::string> options = {"--help"};
  for (const CLI::Option* option : builder.app().get_options()) {
    if (option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
    options.push_back("--" + option->get_lnames().front());
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    for (const auto& [name, accepted] : builder.accepted()) {
      const auto at = std::find(arguments.begin(), arguments.end(), name);
      if (!what.starts_with(name + ":") || at == arguments.end()) continue;
      if (std::count(arguments.begin(), arguments.end(), name) > 1) {
        return where + name + " is there twice: accepted is one " + name + " with " + accepted;
      }
      const std::string value = at + 1 == arguments.end() ? "no value" : quote(*(at + 1));
      return where + name + " = " + value + ": accepted is " + accepted;
    }
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return where + "FILE is missing: accepted are one or more trace files";
  }
  const auto unknown = std::find_if(arguments.begin(), arguments.end(), [&](const auto& text) {
    const std::string name = text.substr(0, text.find('='));
    const bool is_option = name.size() > 1 && name.front() == '-';
    return is_option && std::find(options.begin(), options.end(), name) == options.end();
  });
  if (unknown != arguments.end()) {
    std::string text = where + "unknown option " + quote(*unknown) + ": ";
    const std::string near = nearest(unknown->substr(0, unknown->find('=')), options);
    if (!near.empty()) text += "did you mean " + near + "? ";
    return text + "accepted are " + joined(options);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto extra = what.substr(what.find(": ") + 2);
    return where + quote(extra) + " is too much: accepted are " + joined(options);
  }
  std::replace(what.begin(), what.end(), '\n', ' ');
  return where + what + " (accepted are " + joined(options) + ")";
}

template <class C>
Result<Command, Stop> run(const std::string& name, const std::string& about,
                          std::span<const std::string> arguments, void (*build)(Builder&, C&)) {
  CLI::App app(about, "peal " + name);
  app.get_formatter()->column_width(kHelpColumn);
  C command;
  Builder builder(app);
  build(builder, command);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return unexpected(Stop{0, app.help()});
  } catch (const CLI::ParseError& error) {
    return unexpected(Stop{2, explain(error, builder, name, arguments)});
  }
  return Command(std::move(command));
}

std::string overview() {
  return "Peal delivers every message to every member in the same order, through loss,\n"
         "crashes and partitions.\n"
         "\n"
         "Usage: peal COMMAND [OPTIONS]        peal COMMAND --help explains each command\n"
         "\n"
         "Try it:\n"
         "  up        run a cluster on this machine\n"
         "  send      send lines as messages to groups\n"
         "  recv      join groups, and print messages in their order\n"
         "  status    what each node does and what it waits for\n"
         "\n"
         "Run it:\n"
         "  node      run one node, and serve its clients, from a configuration file\n"
         "  keygen    make and change the keys that nodes share\n"
         "  reload    have nodes read their configuration again\n"
         "  bench     measure throughput and latency on this machine\n"
         "\n"
         "Trust it:\n"
         "  check     judge the traces of a run\n"
         "  sim       run whole clusters in the deterministic simulator\n"
         "\n"
         "  version   print the version\n"
         "\n"
         "Exit status: 0 all went well, 1 it did not, 2 the arguments or the configuration\n"
         "are wrong.\n";
}

/// The command of a process that `peal bench` starts; nothing if `rest` are not the arguments of
/// such a process.
std::optional<BenchCommand> worker_command(std::span<const std::string> rest) {
  if (rest.size() != 3 || rest[0] != "--worker") return std::nullopt;
  BenchCommand command;
  command.worker = rest[1];
  command.dir = rest[2];
  return command;
}

Result<Command, Stop> parse_bench(std::span<const std::string> rest) {
  if (auto worker = worker_command(rest)) return Command(std::move(*worker));
  if (!rest.empty() && rest[0] == "clients") {
    return run("bench clients", "Measure what clients and groups cost one daemon.", rest.subspan(1),
               build_bench_clients);
  }
  if (!rest.empty() && rest[0] == "failover") {
    auto command = run("bench failover", "Measure how long it takes to go on without a node.",
                       rest.subspan(1), build_bench_failover);
    const auto* failover = command ? std::get_if<BenchFailoverCommand>(&*command) : nullptr;
    std::string wrong = failover != nullptr ? bench_conflict(failover->cluster) : std::string();
    if (!wrong.empty()) return unexpected(Stop{2, "bench failover: " + std::move(wrong)});
    return command;
  }
  const bool limit = !rest.empty() && rest[0] == "limit";
  auto command = limit ? run("bench limit", "Measure what the machine can do without a protocol.",
                             rest.subspan(1), build_bench_limit)
                       : run("bench", "Measure throughput and latency.", rest, build_bench);
  const auto* bench = command ? std::get_if<BenchCommand>(&*command) : nullptr;
  std::string wrong = bench != nullptr ? bench_conflict(*bench) : std::string();
  if (!wrong.empty()) return unexpected(Stop{2, "bench: " + std::move(wrong)});
  return command;
}

Result<Command, Stop> parse_up(std::span<const std::string> rest) {
  auto command = run("up", "Run a cluster on this machine.", rest, build_up);
  const auto* up = command ? std::get_if<UpCommand>(&*command) : nullptr;
  std::string wrong = up != nullptr ? up_conflict(*up) : std::string();
  if (!wrong.empty()) return unexpected(Stop{2, "up: " + std::move(wrong)});
  return command;
}

Result<Command, Stop> parse_keygen(std::span<const std::string> rest) {
  auto command = run("keygen", "Make and change the keys of a cluster.", rest, build_keygen);
  const auto* keygen = command ? std::get_if<KeygenCommand>(&*command) : nullptr;
  std::string wrong = keygen != nullptr ? keygen_conflict(*keygen) : std::string();
  if (!wrong.empty()) return unexpected(Stop{2, "keygen: " + std::move(wrong)});
  return command;
}

Result<Command, Stop> parse_node(std::span<const std::string> rest) {
  auto command = run("node", "Run one node, and serve its clients.", rest, build_node);
  const auto* node = command ? std::get_if<NodeCommand>(&*command) : nullptr;
  if (node != nullptr && node->config.empty() && !node->print_config) {
    return unexpected(Stop{2,
                           "node: --config is missing: accepted is a configuration file in "
                           "TOML (`peal node --print-config` writes one)"});
  }
  return command;
}

/// True if `words` may name a command that has help: any single word but "help", or a command of
/// `peal bench`.
bool is_command(std::span<const std::string> words) {
  if (words.size() == 1) return words[0] != "help";
  return words.size() == 2 && words[0] == "bench" &&
         (words[1] == "limit" || words[1] == "clients" || words[1] == "failover");
}

}  // namespace

Result<Command, Stop> parse_arguments(std::span<const std::string> arguments) {
  // `peal help up` is `peal up --help`, and `peal help bench limit` is `peal bench limit --help`.
  if (arguments.size() > 1 && arguments[0] == "help" && is_command(arguments.subspan(1))) {
    std::vector<std::string> asked(arguments.begin() + 1, arguments.end());
    asked.push_back("--help");
    return parse_arguments(asked);
  }
  const bool help = !arguments.empty() &&
                    (arguments[0] == "help" || arguments[0] == "--help" || arguments[0] == "-h");
  const bool of_help = arguments.size() == 2 && arguments[1] == "help";
  if (help && arguments.size() > 1 && !of_help) {
    return unexpected(Stop{2, arguments[0] + ": " + quote(arguments.back()) +
                                  " is too much: accepted is one command, as in `peal help up`"});
  }
  if (arguments.empty() || help) return unexpected(Stop{0, overview()});
  const std::string& name = arguments[0];
  const auto rest = arguments.subspan(1);
  if (name == "version" || name == "--version") {
    return run("version", "Print the version.", rest, build_version);
  }
  if (name == "sim") return Command(SimCommand{{rest.begin(), rest.end()}});
  if (name == "up") return parse_up(rest);
  if (name == "send") return run("send", "Send lines as messages to groups.", rest, build_send);
  if (name == "recv")
    return run("recv", "Join groups, and print messages in their order.", rest, build_recv);
  if (name == "status") return run("status", "Show how nodes are.", rest, build_status);
  if (name == "reload") {
    return run("reload", "Have nodes read their configuration again.", rest, build_reload);
  }
  if (name == "check") return run("check", "Check the traces of a run.", rest, build_check);
  if (name == "bench") {
    return parse_bench(rest);
  }
  if (name == "keygen") return parse_keygen(rest);
  if (name == "node") return parse_node(rest);
  const std::string near = nearest(name, kCommands);
  return unexpected(Stop{2, "unknown command " + quote(name) + ": " +
                                (near.empty() ? "" : "did you mean " + near + "? ") +
                                "accepted are " + joined(kCommands)});
}

}  // namespace peal::cli
