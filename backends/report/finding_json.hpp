// Findings as JSON, of the same shape in every file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "backends/report/finding.hpp"

namespace sym::report {

nlohmann::ordered_json to_json(const Finding& finding);
// Throws nlohmann's exceptions where a part is missing or of another kind.
Finding finding_of(const nlohmann::json& json);

}  // namespace sym::report
