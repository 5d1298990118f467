// Errors of the host side. Each carries one sentence: what, where, what would be accepted.
#pragma once

#include <stdexcept>
#include <string>

namespace sym {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bad usage or input (exit status 2 of the command).
class UsageError : public Error {
 public:
  using Error::Error;
};

// Wrong data, a race, a deadlock, an expired wait (exit status 1).
class Failure : public Error {
 public:
  using Error::Error;
};

// This machine or build lacks what was asked for (exit status 3).
class Unavailable : public Error {
 public:
  using Error::Error;
};

}  // namespace sym
