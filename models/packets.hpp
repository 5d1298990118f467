// What a message of packets is to a machine: data with their flags.
#pragma once

namespace sym::models {

// Bytes on the wire, and in memory, for each byte of payload: a packet is 16 bytes, 4 of them its
// flag.
inline constexpr double packet_wire = 16.0 / 12;

}  // namespace sym::models
