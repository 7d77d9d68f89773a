// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Compiling CLI11 takes longer than compiling the rest of the module. So only files that parse
// arguments include this header.
#include <CLI/CLI.hpp>

#include "base/assert.h"
#include "cli/arguments.h"
#include "cli/engine_options.h"
#include "cli/text.h"
#include "group/message.h"
#include "trace/words.h"

namespace peal::cli {

/// Breaks `text` into lines that fit beside the options' names.
inline std::string wrapped(std::string_view text) {
  constexpr std::size_t kWidth = 54;  // columns beside the names; a terminal has 80 columns
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const auto space = std::min(text.find(' '), text.size());
    if (column > 0) {
      const bool fits = column + 1 + space <= kWidth;
      out += fits ? ' ' : '\n';
      column = fits ? column + 1 : 0;
    }
    out += text.substr(0, space);
    column += space;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out;
}

inline constexpr std::uint32_t kDomainsMax = 15;
inline constexpr const char* kAcceptedClientName =
    "1 to 32 bytes without '#' and control characters";

/// Adds options to the parser of CLI11. Each option has its own check, so that the error for a
/// wrong value names the accepted values.
class Builder {
 public:
  explicit Builder(CLI::App& app) : app_(app) {}

  /// An option with a value; `store` returns false if the value is not accepted.
  void value(const std::string& name, const std::string& shown, const std::string& accepted,
             const std::string& help, std::function<bool(const std::string&)> store) {
    accepted_[name] = accepted;
    auto check = [accepted, store = std::move(store)](const std::string& text) -> std::string {
      return store(text) ? "" : " = " + quote(text) + ": accepted is " + accepted;
    };
    app_.add_option(name, sink_, wrapped(help))
        ->type_name(shown)
        ->check(check)
        ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  }

  /// An option with a number from `minimum` to `maximum`. The number is whole unless T is double.
  template <class T>
  void number(const std::string& name, const std::string& shown, T& target, T minimum, T maximum,
              const std::string& help) {
    const bool whole = std::is_integral_v<T>;
    const std::string accepted = (whole ? "a whole number from " : "a number from ") +
                                 decimal(static_cast<double>(minimum)) + " to " +
                                 decimal(static_cast<double>(maximum));
    value(name, shown, accepted, help, [&target, minimum, maximum](const std::string& text) {
      const auto parsed = number_in<T>(text, minimum, maximum);
      if (parsed) target = *parsed;
      return parsed.has_value();
    });
  }

  void path(const std::string& name, const std::string& shown, std::string& target,
            const std::string& help) {
    value(name, shown, "a path", help, [&target](const std::string& text) {
      if (text.empty() || text.size() > 4'000) return false;
      target = text;
      return true;
    });
  }

  void order(const order::Descriptor*& target) {
    std::string help = "the ordering engine";
    for (const order::Descriptor* engine : order::engines()) {
      help += (engine == order::engines().front() ? ": " : "; ") + std::string(engine->name) +
              (engine == &order::default_engine() ? " (the default): " : ": ") +
              std::string(engine->summary);
    }
    value("--order", "ENGINE", order::engine_names(), help,
          [&target](const std::string& text) { return order::take_engine(text, target); });
  }

  /// An option of an engine. `key` selects the order::Option, which has the accepted values.
  void option(const std::string& name, const std::string& shown, std::string_view key,
              const std::string& help, order::OptionValues& values) {
    const order::Option* option = order::find_option(key);
    PEAL_ASSERT(option != nullptr);
    value(name, shown, order::accepted_by(*option), help,
          [option, &values](const std::string& text) {
            const auto number = order::number_of(*option, text);
            if (number) values.set(option->key, *number);
            return number.has_value();
          });
  }
  void dissemination(order::OptionValues& values) {
    option("--dissemination", "WAYS", kDissemination,
           "with --order " + engines_with(kDissemination) +
               ", how messages reach all nodes: from distributors (the default), or from node to "
               "node, to compare with",
           values);
  }
  void storage(order::OptionValues& values) {
    option("--storage", "PLACE", kStorage,
           "with --order " + engines_with(kStorage) +
               ", where acceptors keep their votes: on disk (the default), or in memory, which is "
               "faster, and forgets them with the process",
           values);
  }
  void ensembles(order::OptionValues& values) {
    option("--ensembles", "K", kEnsembles,
           "with --order " + engines_with(kEnsembles) +
               ", how many ensembles order together, each with a coordinator of its own (1)",
           values);
  }
  void merge(order::OptionValues& values) {
    option("--merge", "HOW", kMerge,
           "with --ensembles, how their orders become one: by keys (the default), or in rotation, "
           "to compare with",
           values);
  }

  void domains(std::uint32_t& target, std::string_view more = "") {
    number<std::uint32_t>("--domains", "K", target, 1, kDomainsMax,
                          "with --order " + engines_with(&order::Traits::genuine) +
                              ", into how many domains of equal size the nodes are divided (1)" +
                              std::string(more));
  }
  void fabric(order::OptionValues& values) {
    option("--fabric", "FABRIC", kFabric,
           "with --order " + engines_with(kFabric) +
               ", how nodes write into each other's memory: as shared memory (shm), over TCP "
               "connections (tcp), by RDMA (verbs), or as each pair can (auto, the default)",
           values);
  }

  void data(bool& streams) {
    value("--data", "WAY", "\"datagrams\" or \"streams\"",
          "how data travel: in datagrams (the default), or, with --order " +
              engines_with(&order::Traits::streams) + ", over TCP streams",
          [&streams](const std::string& text) {
            streams = text == "streams";
            return streams || text == "datagrams";
          });
  }

  void service(Service& target) {
    const std::string own = engines_with(&order::Traits::causal);
    const std::string causal =
        own.empty() ? ". Here, causal and fifo messages are delivered as agreed ones"
                    : ". Causal and fifo differ from agreed with the engine " + own +
                          " only: such messages have no place in the order, and need no "
                          "acknowledgement. Other engines deliver them as agreed ones";
    value("--service", "SERVICE", "\"fifo\", \"causal\", \"agreed\" or \"safe\"",
          "agreed (the default): delivered in one order as soon as possible; safe: in the same "
          "order, once every member of the view has it; causal: after all that its sender had "
          "sent or delivered before; fifo: as causal" +
              causal,
          [&target](const std::string& text) {
            const auto& words = trace::kServiceWords;
            const auto at = std::find(words.begin(), words.end(), text);
            if (at == words.end()) return false;
            target = static_cast<Service>(at - words.begin());
            return true;
          });
  }

  /// An option that may occur up to `count_max` times; its values replace those in `target`.
  void several(const std::string& name, const std::string& shown, const std::string& accepted,
               const std::string& help, std::vector<std::string>& target, std::size_t count_max,
               bool (*is_accepted)(std::string_view)) {
    accepted_[name] = accepted;
    auto check = [accepted, is_accepted, left = std::make_shared<std::size_t>(count_max)](
                     const std::string& text) -> std::string {
      const bool good = is_accepted(text) && (*left)-- > 0;
      return good ? "" : " = " + quote(text) + ": accepted is " + accepted;
    };
    app_.add_option(name, target, wrapped(help))
        ->type_name(shown)
        ->check(check)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  /// The option --name: the name that a client requests.
  void client_name(std::string& target) {
    value("--name", "NAME", kAcceptedClientName,
          "be the client of this name, \"#NAME#NODE\"; without it the node makes one",
          [&target](const std::string& text) {
            if (!group::is_client_name(text)) return false;
            target = text;
            return true;
          });
  }

  void flag(const std::string& name, bool& target, const std::string& help) {
    app_.add_flag(name, target, wrapped(help));
  }
  void flag(const std::string& name, std::function<void()> store, const std::string& help) {
    app_.add_flag_callback(name, std::move(store), wrapped(help));
  }

  void files(std::vector<std::string>& target, bool required, const std::string& help) {
    auto* option = app_.add_option("FILE", target, wrapped(help))->type_name("");
    if (required) option->required();
  }

  const std::map<std::string, std::string>& accepted() const { return accepted_; }
  CLI::App& app() { return app_; }

 private:
  CLI::App& app_;
  std::string sink_;
  std::map<std::string, std::string> accepted_;
};

void build_keygen(Builder& builder, KeygenCommand& command);
/// The conflict between arguments of `peal keygen`, in one line; empty if there is none.
std::string keygen_conflict(const KeygenCommand& command);
void build_bench(Builder& builder, BenchCommand& command);
void build_bench_limit(Builder& builder, BenchCommand& command);
void build_bench_clients(Builder& builder, BenchClientsCommand& command);
void build_bench_failover(Builder& builder, BenchFailoverCommand& command);
/// Why --data is not possible with the engine, in one line; empty if it is possible.
std::string data_conflict(const order::Descriptor& order, bool streams);

/// Why --storage is not possible with the engine or with --ensembles, in one line; empty if it is
/// possible.
std::string storage_conflict(const order::Descriptor& order, const order::OptionValues& options);
/// The conflict between options of `peal up`, in one line; empty if there is none.
std::string up_conflict(const UpCommand& command);
/// The conflict between options of `peal bench`, in one line; empty if there is none.
std::string bench_conflict(const BenchCommand& command);

}  // namespace peal::cli
