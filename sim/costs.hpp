// A machine's numbers as the simulator uses them: in seconds and bytes per second.
#pragma once

#include <algorithm>

#include "models/machine.hpp"
#include "models/packets.hpp"

namespace sym::sim {

struct Costs {
  // `slow`: the GPU's own work takes so many times as long.
  explicit Costs(const models::Machine& machine, double slow = 1);
  double early_s;  // how much sooner a launch begins that is set up early
  // Of a launch: until it begins, and then until its first verb does.
  double start_s(bool early) const { return launch_s - (early ? std::min(early_s, launch_s) : 0); }
  double cold_s(bool early) const {
    return ramp_s - (early ? early_s - std::min(early_s, launch_s) : 0);
  }
  double launch_s, ramp_s, flag_s, flag_turn_s, release_s, load_local_s, load_remote_s, sync_s;
  double verb_s, slots_s;  // of a verb on data, and of reduce_slots besides
  double sm_write, sm_read, sm_reduce, sm_local, hbm;
  double port_read;      // what a PE's reads reach together while its peers read it
  double put_release_s;  // of what has put: until its stores are there
  double copy_engine_s, copy_engine_turn_s, copy_engine;
  double post_s;  // of a queue's flag behind a copy
  // Ports are given in bytes of SM copies. The copy engine gets more through them: one of its bytes
  // takes the room of so many.
  double copy_engine_room;
  double multicast_room;  // likewise: a port carries so many bytes for each of multicast
  // A message of packets takes a pass of its block's lanes for each so many bytes.
  double packet_pass_bytes = 0, packet_pass_s = 0;
  static constexpr double packet_wire = models::packet_wire;
  static constexpr double packet_bytes = models::packet_bytes;
  double nic_latency_s = 0, nic_flag_s = 0, nic_post_s = 0;
  int nic_window = 1;
  double slow;
};

}  // namespace sym::sim
