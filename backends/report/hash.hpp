// FNV-1a, 64 bits: names of files and seals against edits, nothing that must withstand an attack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sym::report {

class Fnv {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) {
      value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
  }
  // 16 hexadecimal digits.
  std::string text() const {
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4)
      digits += "0123456789abcdef"[value_ >> static_cast<unsigned>(shift) & 15U];
    return digits;
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

inline std::string fnv_text(std::string_view bytes) {
  Fnv hash;
  hash.add(bytes);
  return hash.text();
}

}  // namespace sym::report
