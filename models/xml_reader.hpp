// Strict reading of XML: each refusal is one sentence with file, line, what is there and what would
// be accepted. Throws std::invalid_argument throughout. Only the readers of XML include this.
#pragma once

#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

namespace sym::models::detail {

// A parsed file; must outlive its elements.
struct XmlFile {
  XmlFile(const std::string& text, std::string origin);

  std::string origin;
  std::string text;
  pugi::xml_document document;
};

class XmlAt {
 public:
  XmlAt(const XmlFile& file, pugi::xml_node node) : file_(&file), node_(node) {}

  static XmlAt root(const XmlFile& file) { return {file, file.document.document_element()}; }

  std::string name() const { return node_.name(); }
  int line() const;
  std::string place() const;  // "file:line"
  [[noreturn]] void refuse(const std::string& what) const;

  std::vector<XmlAt> children() const;  // elements, in order
  // Any other element is refused with the nearest name.
  std::vector<XmlAt> children(const std::vector<std::string>& accepted) const;
  bool has_child(const char* name) const { return !node_.child(name).empty(); }

  bool has(const char* attribute) const { return !node_.attribute(attribute).empty(); }
  std::string text(const char* attribute) const;  // refuses if it is missing or empty
  std::string text_or(const char* attribute, const std::string& otherwise) const;
  int whole(const char* attribute, int low, int high) const;

 private:
  const XmlFile* file_;
  pugi::xml_node node_;
};

}  // namespace sym::models::detail
