// The command `sym`.
#include "experiments/sym/registry.hpp"

int main(int argc, char** argv) {
  return sym::command::main_command(argc, argv, sym::command::Registry());
}
