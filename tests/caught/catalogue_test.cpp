// catalogue.md names programs that are there, and every program of a published report.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tests/caught/caught.hpp"

namespace sym::caught {
namespace {

// What the rows of the table call a program and how they say that it is found.
std::set<std::pair<std::string, std::string>> rows() {
  std::ifstream file(SYM_SOURCE_DIR "/tests/caught/catalogue.md");
  const std::regex row(R"(\| `([a-z_0-9]+)` \| ([a-z-]+) \|$)");
  std::set<std::pair<std::string, std::string>> found;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_search(line, match, row)) found.insert({match[1], match[2]});
  }
  return found;
}

TEST(Catalogue, NamesEveryPublishedProgramAndNoOther) {
  std::set<std::pair<std::string, std::string>> there, published;
  for (const Program& program : programs()) there.insert({program.name, program.kind});
  for (const auto& some : {published_ordering_programs(), published_epoch_programs(),
                           published_reuse_programs(), published_misuse_programs()}) {
    for (const Program& program : some) published.insert({program.name, program.kind});
  }
  const auto named = rows();
  for (const auto& [name, kind] : published) {
    EXPECT_TRUE(named.contains({name, kind})) << name << " (" << kind << ") is in no row";
  }
  for (const auto& [name, kind] : named) {
    EXPECT_TRUE(there.contains({name, kind})) << "no program " << name << " (" << kind << ")";
  }
}

TEST(Catalogue, NamesEventRowsThatAreThere) {
  const auto text_of = [](const std::string& path) {
    std::ifstream file(SYM_SOURCE_DIR "/" + path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string table = text_of("tests/caught/catalogue.md");
  const std::string tests = text_of("tests/litmus/events_rows_test.cpp");
  const std::regex row("`EventRows[.]([A-Za-z]+)`");
  int named = 0;
  for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at, ++named) {
    const std::string test = "TEST(EventRows, " + (*at)[1].str() + ")";
    EXPECT_NE(tests.find(test), std::string::npos) << test;
  }
  EXPECT_GT(named, 0);
}

}  // namespace
}  // namespace sym::caught
