// Readers of other programs' files, by content. Not for other folders.
#pragma once

#include <string>

#include "models/machine.hpp"

namespace sym::models::detail {

struct XmlFile;

// NCCL's and SimGrid's XML, by the root element. Throws Unavailable in a build without pugixml.
bool have_xml();
Machine parse_xml(const std::string& text, const std::string& origin);
Machine read_nccl_system(const XmlFile& file);
Machine read_simgrid_platform(const XmlFile& file);

// A network file of ASTRA-sim's analytical backends.
bool is_astra_network(const std::string& text);
Machine parse_astra_network(const std::string& text, const std::string& origin);

}  // namespace sym::models::detail
