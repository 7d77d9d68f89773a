// SPDX-License-Identifier: Apache-2.0
#include "wire/ramcast_fields.h"

namespace peal::wire {

std::uint64_t read_from_one(ByteReader& in) {
  const std::uint64_t value = read_counter(in);
  in.require(value >= 1, Drop::bad_value);
  return value;
}

Round read_optional_round(ByteReader& in) {
  Round round;
  round.count = read_counter(in);
  round.coordinator.node.value = in.u<std::uint32_t>();
  round.coordinator.epoch = in.u<std::uint64_t>();
  const std::uint32_t node = round.coordinator.node.value;
  const bool named = round.count >= 1 && node >= 1 && node <= kNodeMax;
  in.require(named || round == Round{}, Drop::bad_value);
  return round;
}

DomainBits read_domains(ByteReader& in) {
  const auto domains = in.u<std::uint16_t>();
  in.require(domains != 0 && (domains & 1U) == 0, Drop::bad_value);
  return domains;
}

Service read_ordered_service(ByteReader& in) {
  const auto service = in.u<std::uint8_t>();
  in.require(service == static_cast<std::uint8_t>(Service::agreed) ||
                 service == static_cast<std::uint8_t>(Service::safe),
             Drop::bad_value);
  return in.failed() ? Service::agreed : static_cast<Service>(service);
}

void read_indexes(ByteReader& in, MessageHead& head) {
  head.indexes.clear();
  const unsigned count = count_of(head.to);
  if (in.failed() || !in.holds(count, sizeof(std::uint64_t))) return;
  for (unsigned i = 0; i < count; ++i) head.indexes.push_back(read_from_one(in));
}

}  // namespace peal::wire
