// SPDX-License-Identifier: Apache-2.0
// Names in a configuration file.
#include <algorithm>

#include "cli/config.h"

namespace peal::cli {

std::string_view dissemination_name(Dissemination dissemination) {
  return dissemination == Dissemination::ring ? "ring" : "distributors";
}

std::optional<Dissemination> dissemination_of_name(std::string_view name) {
  for (const Dissemination each : {Dissemination::distributors, Dissemination::ring}) {
    if (dissemination_name(each) == name) return each;
  }
  return std::nullopt;
}

std::string_view merging_name(Merging merging) {
  return merging == Merging::rotation ? "rotation" : "keys";
}

std::optional<Merging> merging_of_name(std::string_view name) {
  for (const Merging each : {Merging::keys, Merging::rotation}) {
    if (merging_name(each) == name) return each;
  }
  return std::nullopt;
}

std::string_view storage_name(Storage storage) {
  return storage == Storage::memory ? "memory" : "disk";
}

std::optional<Storage> storage_of_name(std::string_view name) {
  for (const Storage each : {Storage::disk, Storage::memory}) {
    if (storage_name(each) == name) return each;
  }
  return std::nullopt;
}

std::string_view data_name(Data data) { return data == Data::streams ? "streams" : "datagrams"; }

std::optional<Data> data_of_name(std::string_view name) {
  for (const Data each : {Data::datagrams, Data::streams}) {
    if (data_name(each) == name) return each;
  }
  return std::nullopt;
}

std::string order_clash(std::string_view path, const NodeConfig& config) {
  const order::Descriptor* order = config.order;
  const bool ring = !order->traits.quorum;
  const bool of_ring = path == "primary" || path.starts_with("ring.");
  // The default is what the others have, too.
  const bool of_ridge =
      (path == "ridge.dissemination" && config.dissemination != Dissemination{}) ||
      (path == "ridge.ensembles" && config.ensembles != 1) ||
      (path == "ridge.merge" && config.merging != Merging{}) ||
      (path == "ridge.optimistic" && config.optimistic);
  const bool of_streams = path == "network.data" && config.data != Data{};
  const bool of_memory = path == "paxos.storage" && config.storage != Storage{};
  const bool of_quorums =
      of_ridge || of_streams || of_memory || path == "data_dir" || path == "paxos.acceptors";
  if (ring ? !of_quorums : !of_ring && !(of_ridge && !order->traits.ensembles)) return {};
  std::string text = "\"" + std::string(order->name) + "\"";
  text += ring ? ", the default: leave it out" : ": leave it out";
  if (path == "primary") text += ", as every view is primary";
  if (of_ridge) return text + ", or set order = \"ridge\"";
  return ring ? text + ", or set order = \"paxos\" or \"ridge\"" : text;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace peal::cli
