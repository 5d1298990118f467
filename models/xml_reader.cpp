#include "models/xml_reader.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "core/text.hpp"

namespace sym::models::detail {
namespace {

std::ptrdiff_t line_at(const std::string& text, std::ptrdiff_t offset) {
  const auto end = std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text.size()));
  return 1 + std::count(text.begin(), text.begin() + end, '\n');
}

}  // namespace

XmlFile::XmlFile(const std::string& content, std::string from)
    : origin(std::move(from)), text(content) {
  const pugi::xml_parse_result result = document.load_buffer(text.data(), text.size());
  if (!result) {
    throw std::invalid_argument(origin + ":" + std::to_string(line_at(text, result.offset)) +
                                ": is not XML: " + result.description());
  }
}

int XmlAt::line() const { return static_cast<int>(line_at(file_->text, node_.offset_debug())); }

std::string XmlAt::place() const { return file_->origin + ":" + std::to_string(line()); }

void XmlAt::refuse(const std::string& what) const {
  throw std::invalid_argument(place() + ": <" + name() + "> " + what);
}

std::vector<XmlAt> XmlAt::children() const {
  std::vector<XmlAt> all;
  for (const pugi::xml_node& child : node_.children()) {
    if (child.type() == pugi::node_element) all.emplace_back(*file_, child);
  }
  return all;
}

std::vector<XmlAt> XmlAt::children(const std::vector<std::string>& accepted) const {
  std::vector<XmlAt> all = children();
  for (const XmlAt& child : all) {
    if (std::find(accepted.begin(), accepted.end(), child.name()) != accepted.end()) continue;
    child.refuse("is unknown inside <" + name() + ">; the nearest accepted element is <" +
                 nearest_name(child.name(), accepted) + ">");
  }
  return all;
}

std::string XmlAt::text(const char* attribute) const {
  std::string value = node_.attribute(attribute).value();
  if (value.empty())
    refuse(std::string("lacks the attribute ") + attribute + ", which is required");
  return value;
}

std::string XmlAt::text_or(const char* attribute, const std::string& otherwise) const {
  std::string value = node_.attribute(attribute).value();
  return value.empty() ? otherwise : value;
}

int XmlAt::whole(const char* attribute, int low, int high) const {
  const std::string word = text(attribute);
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < low || value > high) {
    refuse(std::string("has ") + attribute + "=\"" + word + "\"; a whole number from " +
           std::to_string(low) + " to " + std::to_string(high) + " is accepted");
  }
  return value;
}

}  // namespace sym::models::detail
