// Strict reading of JSON values: each refusal is one sentence with file, JSON path, what is there
// and what would be accepted. Throws std::invalid_argument throughout.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sym::models::detail {

// A value and where it stands. The JSON document must outlive it.
class JsonAt {
 public:
  JsonAt(const nlohmann::json& value, std::string origin, std::string path)
      : value_(&value), origin_(std::move(origin)), path_(std::move(path)) {}

  [[noreturn]] void refuse(const std::string& what) const;

  // Requires an object with no key outside `allowed`; an unknown one is refused with the nearest.
  void only_keys(const std::vector<std::string>& allowed) const;
  bool is_object() const { return value_->is_object(); }
  bool has(const std::string& key) const { return value_->contains(key); }
  JsonAt member(const std::string& key) const;  // refuses if it is missing
  std::vector<std::string> keys() const;        // requires an object
  std::vector<JsonAt> elements() const;         // requires an array

  std::string text() const;  // a non-empty string
  std::int64_t whole(std::int64_t low, std::int64_t high) const;
  double positive() const;      // finite and above 0
  double not_negative() const;  // finite, 0 or more
  bool truth() const;

 private:
  std::string shown() const;

  const nlohmann::json* value_;
  std::string origin_;
  std::string path_;
};

// Parses `text`; a syntax error is refused with its line, a key given twice with its name.
nlohmann::json parse_strict_json(const std::string& text, const std::string& origin);

}  // namespace sym::models::detail
