// Reduction operators. An operator combines in Accumulator<T> and is finished once, after the last
// operand: `finish(combine(combine(x0, x1), x2), 3)`. Integers wrap around (two's complement).
#pragma once

#include <type_traits>

#include "core/function.hpp"

namespace sym {

namespace detail {
// Signed overflow is undefined in C++; the contract is wrap-around, so it is done unsigned (and at
// least as wide as unsigned int, because narrower types promote to int).
template <class A, class F>
SYM_HD constexpr A wrapping(A a, A b, F f) {
  if constexpr (std::is_integral_v<A>) {
    using Wide =
        std::conditional_t<(sizeof(A) < sizeof(unsigned)), unsigned, std::make_unsigned_t<A>>;
    return static_cast<A>(f(static_cast<Wide>(a), static_cast<Wide>(b)));
  } else {
    return f(a, b);
  }
}
struct Plus {
  template <class A>
  SYM_HD constexpr A operator()(A a, A b) const {
    return static_cast<A>(a + b);
  }
};
struct Times {
  template <class A>
  SYM_HD constexpr A operator()(A a, A b) const {
    return static_cast<A>(a * b);
  }
};
}  // namespace detail

struct Sum {
  static constexpr const char* name = "sum";
  template <class A>
  SYM_HD constexpr A combine(A a, A b) const {
    return detail::wrapping(a, b, detail::Plus{});
  }
  template <class A>
  SYM_HD constexpr A finish(A total, int) const {
    return total;
  }
};

struct Prod {
  static constexpr const char* name = "prod";
  template <class A>
  SYM_HD constexpr A combine(A a, A b) const {
    return detail::wrapping(a, b, detail::Times{});
  }
  template <class A>
  SYM_HD constexpr A finish(A total, int) const {
    return total;
  }
};

// Max and Min: where an operand is NaN the result is NaN (the first NaN in reduction order), so a
// broken input is never hidden.
struct Max {
  static constexpr const char* name = "max";
  template <class A>
  SYM_HD constexpr A combine(A a, A b) const {
    return (a >= b || a != a) ? a : b;
  }
  template <class A>
  SYM_HD constexpr A finish(A total, int) const {
    return total;
  }
};

struct Min {
  static constexpr const char* name = "min";
  template <class A>
  SYM_HD constexpr A combine(A a, A b) const {
    return (a <= b || a != a) ? a : b;
  }
  template <class A>
  SYM_HD constexpr A finish(A total, int) const {
    return total;
  }
};

// The sum divided by the number of operands, as the last step: exact division for floats,
// truncating for integers (of the wrapped sum).
struct Avg {
  static constexpr const char* name = "avg";
  template <class A>
  SYM_HD constexpr A combine(A a, A b) const {
    return Sum{}.combine(a, b);
  }
  template <class A>
  SYM_HD constexpr A finish(A total, int operands) const {
    if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(total / operands);  // in int at least: 256 is no u8
    } else {
      return total / static_cast<A>(operands);
    }
  }
};

}  // namespace sym
