#include "tests/conformance/cases_pieces.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Tally, sym::conformance::tally_cases)
SYM_STAMP_THREAD(Pieces, sym::conformance::pieces_cases)
SYM_STAMP_THREAD(Require, sym::conformance::require_cases)

namespace sym::conformance {
namespace {

TEST(ScratchOnThread, OverrunIsRefused) {
  try {
    thread::run_threads({.pes = 1}, overruns_scratch<thread::ThreadWorld>);
    FAIL() << "nothing was refused";
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("scratch"), std::string::npos) << failure.what();
  }
}

}  // namespace
}  // namespace sym::conformance
