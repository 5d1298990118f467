#include "models/json_reader.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "core/text.hpp"

namespace sym::models::detail {

using Json = nlohmann::json;

std::string JsonAt::shown() const {
  constexpr std::size_t longest = 40;
  std::string text = value_->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

void JsonAt::refuse(const std::string& what) const {
  throw std::invalid_argument(origin_ + ": " + (path_.empty() ? "the top level" : path_) + " " +
                              what);
}

void JsonAt::only_keys(const std::vector<std::string>& allowed) const {
  for (const std::string& key : keys()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      refuse("has the unknown key '" + key + "'; the nearest accepted key is '" +
             nearest_name(key, allowed) + "'");
    }
  }
}

JsonAt JsonAt::member(const std::string& key) const {
  if (!value_->is_object()) refuse("is " + shown() + "; an object is accepted");
  if (!has(key)) refuse("lacks the key '" + key + "', which is required");
  return {value_->at(key), origin_, path_.empty() ? key : path_ + "." + key};
}

std::vector<std::string> JsonAt::keys() const {
  if (!value_->is_object()) refuse("is " + shown() + "; an object is accepted");
  std::vector<std::string> names;
  for (const auto& [key, value] : value_->items()) names.push_back(key);
  return names;
}

std::vector<JsonAt> JsonAt::elements() const {
  if (!value_->is_array()) refuse("is " + shown() + "; an array is accepted");
  std::vector<JsonAt> all;
  for (const Json& element : *value_) {
    all.emplace_back(element, origin_, path_ + "[" + std::to_string(all.size()) + "]");
  }
  return all;
}

std::string JsonAt::text() const {
  if (!value_->is_string() || value_->get_ref<const std::string&>().empty()) {
    refuse("is " + shown() + "; a string that is not empty is accepted");
  }
  return value_->get<std::string>();
}

std::int64_t JsonAt::whole(std::int64_t low, std::int64_t high) const {
  // Unsigned values above 2^63 would wrap to accepted ones.
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() || value_->get<std::uint64_t>() <= INT64_MAX);
  const std::int64_t number = fits ? value_->get<std::int64_t>() : 0;
  if (!fits || number < low || number > high) {
    refuse("is " + shown() + "; a whole number from " + std::to_string(low) + " to " +
           std::to_string(high) + " is accepted");
  }
  return number;
}

double JsonAt::positive() const {
  const double number = value_->is_number() ? value_->get<double>() : 0;
  if (!(number >= 1e-9) || !(number <= 1e12))
    refuse("is " + shown() + "; a number above 0 is accepted, from 1e-9 to 1e12");
  return number;
}

double JsonAt::not_negative() const {
  const double number = value_->is_number() ? value_->get<double>() : -1;
  if (!(number >= 0) || !(number <= 1e12))
    refuse("is " + shown() + "; a number from 0 to 1e12 is accepted");
  return number;
}

bool JsonAt::truth() const {
  if (!value_->is_boolean()) refuse("is " + shown() + "; true or false is accepted");
  return value_->get<bool>();
}

Json parse_strict_json(const std::string& text, const std::string& origin) {
  // The library keeps the last of two equal keys silently.
  std::vector<std::set<std::string>> open_objects;
  const auto refuse_twice = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key &&
        !open_objects.back().insert(parsed.get<std::string>()).second) {
      throw std::invalid_argument(origin + ": the key '" + parsed.get<std::string>() +
                                  "' is given twice in one object; once is accepted");
    }
    return true;
  };
  try {
    return Json::parse(text, refuse_twice);
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const std::string what = error.what();
    const std::size_t details = what.find(": ");
    throw std::invalid_argument(
        origin + ":" + std::to_string(1 + std::count(text.begin(), end, '\n')) +
        ": is not JSON: " + (details == std::string::npos ? what : what.substr(details + 2)));
  } catch (const Json::exception& error) {  // a number beyond double, broken UTF-8
    throw std::invalid_argument(origin + ": is not JSON that can be used: " + error.what());
  }
}

}  // namespace sym::models::detail
