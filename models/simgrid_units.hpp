// Numbers with units, as SimGrid's platform files write them.
#pragma once

#include "models/xml_reader.hpp"

namespace sym::models::detail {

// "1.5GBps", "100Gbps": above 0; bytes a second without a unit. Refused otherwise.
double bandwidth_gbps(const XmlAt& at, const char* attribute);
// "50us": 0 or more; seconds without a unit, 0 where the attribute is missing.
double latency_us(const XmlAt& at, const char* attribute);

}  // namespace sym::models::detail
