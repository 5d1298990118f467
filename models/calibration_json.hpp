// The part of a machine's JSON form that says how it was calibrated. Not for other folders.
#pragma once

#include "models/json_parts.hpp"

namespace sym::models::detail {

// "calibration": {"date", "backend", "device", "base", "pes", "fits": {KEY:
// {"median_error_percent", "worst_error_percent", "samples", "bytes": [least, most], "blocks":
// [least, most]}}}. Each KEY must be one of the machine's numbers, which are read before.
void read_calibration(const JsonAt& at, Machine& machine);
OrderedJson calibration_json(const Calibration& calibration);

}  // namespace sym::models::detail
