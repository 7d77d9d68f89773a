// SPDX-License-Identifier: Apache-2.0
#include "sim/run/arguments.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>
#include <type_traits>

// This header takes longer to compile than the rest of the module: only command lines include it.
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "sim/baselines/registry.h"
#include "sim/run/argument_rules.h"

namespace peal::sim {
namespace {

constexpr const char* kAbout =
    "Runs clusters of whole nodes in simulated time, breaks their network, their clocks and their\n"
    "processes, and checks every delivery against what Peal promises.\n\n"
    "A seed is a number from which everything is drawn: how many nodes, which options, which "
    "load,\n"
    "which faults and when. The same seed always gives the same run, so a failure can be repeated\n"
    "and taken apart.";

constexpr const char* kExamples =
    "\nExamples:\n"
    "  peal sim                             a hundred seeds\n"
    "  peal sim --seeds 1-2000 --json       two thousand, with the figures as JSON\n"
    "  peal sim --nodes 5 --set loopback=yes --set token_loss=40ms\n"
    "                                       the same choices for every seed\n"
    "  peal sim --accelerated-window 0      the original protocol\n"
    "  peal sim --net 10g --nodes 8         what a cluster would carry on such a network\n"
    "  peal sim --net 10g --help            more about that\n"
    "\n"
    "  When a seed fails:\n"
    "  peal sim --seed 88 --verbose         see it, event by event\n"
    "  peal sim --seed 88 --print           its story, in the language of scenarios\n"
    "  peal sim --seed 88 --shrink --out story.txt\n"
    "                                       the smallest story that fails in the same way\n"
    "  peal sim --scenario story.txt        run that story\n"
    "\n"
    "  peal sim --scenario tests/scenario/*-*.txt\n"
    "                                       all the stories that are kept\n"
    "  peal sim --mutants                   are the checks worth anything? break the code and see\n"
    "\n"
    "Exit status: 0 all is well, 1 something was violated, 2 the command line or a file is wrong.";

std::string whole_number(std::uint64_t minimum, std::uint64_t maximum) {
  return "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum);
}

/// Adds options and checks their values, so that each error says what is accepted.
class Builder {
 public:
  explicit Builder(CLI::App& app) : app_(app) {}

  /// An option with a value; `store` returns false if the value is not accepted.
  void value(const std::string& name, const std::string& shown, const std::string& must,
             const std::string& help, std::function<bool(const std::string&)> store) {
    must_[name] = must;
    auto check = [this, name, must, store = std::move(store)](const std::string& text) {
      // CLI11 adds text to the message of a check. Keep the message here, so that explain() shows
      // only this message.
      if (!store(text)) problem_ = refusal(name, text, must);
      return problem_;
    };
    app_.add_option(name, sink_, help)
        ->type_name(shown)
        ->check(check)
        ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  }

  template <class T>
  void number(const std::string& name, const std::string& shown, T& target, std::uint64_t minimum,
              std::uint64_t maximum, const std::string& help) {
    value(name, shown, whole_number(minimum, maximum), help,
          [&target, minimum, maximum](const std::string& text) {
            const auto parsed = number_in<std::uint64_t>(text, minimum, maximum);
            if (parsed) target = static_cast<std::remove_reference_t<decltype(*&target)>>(*parsed);
            return parsed.has_value();
          });
  }

  void text(const std::string& name, const std::string& shown, std::string& target,
            const std::string& must, const std::string& help) {
    value(name, shown, must, help, [&target](const std::string& text) {
      target = text;
      return !text.empty();
    });
  }

  void words(const std::string& name, const std::string& shown, std::vector<std::string>& target,
             const std::string& must, const std::string& help) {
    must_[name] = must;
    app_.add_option(name, target, help)->type_name(shown);
  }

  void flag(const std::string& name, bool& target, const std::string& help) {
    app_.add_flag(name, target, help);
  }

  const std::map<std::string, std::string>& must() const { return must_; }
  const std::string& problem() const { return problem_; }
  CLI::App& app() { return app_; }

 private:
  CLI::App& app_;
  std::string sink_;
  std::string problem_;
  std::map<std::string, std::string> must_;
};

bool read_range(const std::string& text, Arguments& a) {
  const std::size_t dash = std::min(text.find('-', 1), text.size());
  const std::string_view whole(text);
  const auto first = number_in<std::uint64_t>(whole.substr(0, dash), 1, kSeedMax);
  const auto last =
      dash == text.size() ? first : number_in<std::uint64_t>(whole.substr(dash + 1), 1, kSeedMax);
  if (!first || !last || *first > *last) return false;
  a.first = *first;
  a.last = *last;
  return true;
}

/// Adds the option `name` if an engine of this program has it. `texts` keeps the value, because the
/// engine is known only after all arguments are read.
void add_choice(Builder& b, std::string_view name, Texts& texts) {
  if (find_option_named(name) == nullptr) return;
  const order::Option& option = *find_option_named(name);
  const std::string flag = "--" + std::string(name);
  const std::string with = "with --order " + engines_with_option(name) + ": ";
  if (option.kind == order::Option::Kind::flag) {
    b.app().add_flag_callback(
        flag, [&texts, name] { texts.choices.emplace_back(name, "yes"); },
        with + "its option " + std::string(option.name()));
    return;
  }
  const std::string normal = order::text_of(option, option.normal);
  b.value(flag, "VALUE", order::accepted_by(option),
          with + order::accepted_by(option) + " (" + normal + ")",
          [&texts, &option, name](const std::string& text) {
            texts.choices.emplace_back(name, text);
            return order::number_of(option, text).has_value();
          });
}

/// For the help, which has little room.
std::string without_quotes(std::string text) {
  std::erase(text, '"');
  return text;
}

void add_choices(Builder& b, Arguments& a, Texts& texts) {
  b.value(
      "--seeds", "FIRST-LAST",
      "a seed, or the first and the last one, such as 1-2000, each " + whole_number(1, kSeedMax),
      "which seeds to run (1-100)", [&a](const std::string& text) { return read_range(text, a); });
  b.value("--seed", "N", whole_number(1, kSeedMax), "run this seed alone",
          [&a](const std::string& text) {
            a.seed = number_in<std::uint64_t>(text, 1, kSeedMax);
            return a.seed.has_value();
          });
  b.words("--scenario", "FILE", texts.scenarios, "the path of a scenario",
          "run these stories instead of seeds");
  b.value("--order", "ENGINE", engine_names(),
          without_quotes(engine_names()) + " (" + std::string(order::default_engine().name) + ")",
          [&a](const std::string& text) {
            const order::Descriptor* known = find_engine(text);
            if (known != nullptr) a.swarm.engine = EngineOptions(*known);
            return known != nullptr;
          });
  for (const std::string_view choice : kEngineChoices) add_choice(b, choice, texts);
  b.number("--domains", "N", a.swarm.domains, 0, kDomainMax,
           "if the engine has domains: up to so many, of random nodes (0)");
  b.number("--nodes", "N", a.swarm.nodes, 1, 128,
           "number of nodes; without it each seed draws its own");
  b.words("--set", "KEY=VALUE", texts.settings, kSettingMust,
          "an option of all clusters, as in a scenario, e.g. token_loss=40ms");
  b.app().get_option("--set")->allow_extra_args(false);
  b.value("--accelerated-window", "N", whole_number(0, 0xffff'ffff),
          "the same as --set accelerated_window=N; 0 is the original protocol",
          [&texts](const std::string& text) {
            texts.accelerated_window = text;
            return number_in<std::uint32_t>(text, 0, 0xffff'ffff).has_value();
          });
  b.value("--targeted", "SHARE", "a number from 0 to 1",
          "share of seeds with faults at chosen moments of the protocol (0.6)",
          [&a](const std::string& text) {
            a.swarm.targeted = number_in<double>(text, 0, 1).value_or(-1);
            return a.swarm.targeted >= 0;
          });
}

void add_runs(Builder& b, Arguments& a, Texts& texts, bool& no_faults) {
  b.flag("--no-faults", no_faults, "load only");
  b.flag("--sessions", a.swarm.sessions,
         "the same, and clients are cut off, stop reading and vanish");
  b.flag("--lists", a.swarm.lists, "the list of nodes changes in every story, not in some");
  b.flag("--groups", a.swarm.groups,
         "the load comes from clients of process groups; the rest is the same");
  b.flag("--no-replay-check", a.no_replay_check,
         "do not run one seed in twenty twice to see that it does the same");
  b.number("--jobs", "N", a.jobs, 1, 256, "worker processes; without it one per processor");
  b.flag("--print", a.print, "with --seed: print its story and do not run it");
  b.flag("--shrink", a.shrink,
         "with --seed or one --scenario: the smallest story that fails alike");
  b.text("--out", "FILE", a.out, "a file that can be written",
         "with --shrink: write the story to this file");
  b.text("--trace", "FILE", a.trace, "a file that can be written",
         "with --seed or one --scenario: every event, as JSON lines");
  b.flag("--record", a.record, "with one --scenario: print the transcripts that were recorded");
  b.words("--mutants", "NAME", texts.mutants, kMutantMust,
          "break the code on purpose, in all or in these ways, until noticed");
  b.app().get_option("--mutants")->expected(0, -1);
  b.value("--mutant", "NAME", kMutantMust, "run everything else with this deliberate fault",
          [&a](const std::string& text) { return read_mutant(text, a.mutant); });
  b.number("--budget", "N", a.budget, 1, kSeedMax, "with --mutants: seeds to try (400)");
  b.value("--mutant-scenarios", "DIR", "a folder",
          "with --mutants: scenarios that are tried first (tests/mutants)",
          [&a](const std::string& text) {
            std::error_code error;
            a.mutant_scenarios = text;
            return std::filesystem::is_directory(text, error);
          });
  b.flag("--json", a.json, "print one JSON object");
  b.flag("-v,--verbose", a.verbose, "say more; with --seed, every event");
}

/// Turns an error of CLI11 into one line for people.
std::string explain(const CLI::ParseError& error, Builder& builder,
                    std::span<const std::string> arguments) {
  if (!builder.problem().empty()) return builder.problem();
  std::string options = "--help";
  std::vector<std::string> known = {"--help", "-h", "-v"};
  for (const CLI::Option* option : builder.app().get_options()) {
    if (option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
    known.push_back("--" + option->get_lnames().front());
    options += ", " + known.back();
  }
  const auto name_of = [](const std::string& text) { return text.substr(0, text.find('=')); };
  for (const auto& [name, must] : builder.must()) {
    // Clang 14 cannot capture structured bindings.
    const auto is_it = [&name_of, wanted = name](const std::string& text) {
      return name_of(text) == wanted;
    };
    const auto at = std::find_if(arguments.begin(), arguments.end(), is_it);
    if (!std::string_view(error.what()).starts_with(name + ":") || at == arguments.end()) continue;
    if (std::count_if(arguments.begin(), arguments.end(), is_it) > 1) {
      return name + " is not accepted twice: it must be there once, with " + must;
    }
    if (at + 1 != arguments.end()) return refusal(name, *(at + 1), must);
    return name + " without a value is not accepted: it must be " + must;
  }
  for (const std::string& text : arguments) {
    const std::string name = name_of(text);
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      if (name == text || builder.must().contains(name)) continue;
      return refusal(name, text.substr(name.size() + 1), "without a value");
    }
    if (std::string_view(error.what()).find(text) == std::string_view::npos) continue;
    return quote(text) + " is not accepted: it must be one of " + options;
  }
  return std::string(error.what()) + " (accepted are " + options + ")";
}

}  // namespace

Result<Arguments, Stop> parse_arguments(std::span<const std::string> arguments) {
  Arguments a;
  a.jobs = std::max(1U, std::thread::hardware_concurrency());
  Texts texts;
  bool no_faults = false;
  CLI::App app(kAbout, "peal sim");
  app.get_formatter()->column_width(32);
  app.footer(kExamples);
  Builder builder(app);
  add_choices(builder, a, texts);
  add_runs(builder, a, texts, no_faults);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return unexpected(Stop{0, app.help()});
  } catch (const CLI::ParseError& error) {
    return unexpected(Stop{2, explain(error, builder, arguments)});
  }
  a.swarm.faults = !no_faults;
  const auto given = [&app](const char* name) { return app.count(name) > 0; };
  const std::string problem = take_texts(given, texts, a);
  if (!problem.empty()) return unexpected(Stop{2, problem});
  return a;
}

}  // namespace peal::sim
