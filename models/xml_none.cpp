// A build without pugixml reads no XML.
#include "core/error.hpp"
#include "models/readers.hpp"

namespace sym::models::detail {

bool have_xml() { return false; }

Machine parse_xml(const std::string&, const std::string& origin) {
  throw Unavailable(
      origin + " is XML, which this build cannot read; install libpugixml-dev and build again");
}

}  // namespace sym::models::detail
