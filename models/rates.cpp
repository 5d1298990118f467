#include "models/rates.hpp"

#include <array>
#include <cstdlib>

namespace sym::models::detail {

double nvlink_gbps(int sm) {
  if (sm < 60) return 0;
  if (sm < 70) return 18;
  if (sm < 86) return 20;
  if (sm < 90) return 12;
  return sm < 100 ? 20.6 : 40.1;
}

double xgmi_gbps(const std::string& gcn) {
  const std::string name = gcn.rfind("gfx", 0) == 0 ? gcn.substr(3) : gcn;
  if (name.rfind("94", 0) == 0 || name.rfind("95", 0) == 0) return 48;
  if (name == "90a" || name == "910") return 36;
  return name.rfind("90", 0) == 0 ? 24 : 0;
}

PcieRate pcie_gbps(const std::string& link_speed, int link_width) {
  // "32.0 GT/s PCIe": the number says the generation.
  const double gigatransfers = std::strtod(link_speed.c_str(), nullptr);
  const bool stated = gigatransfers > 0 && link_width > 0;
  const double per_16 = gigatransfers > 0 ? gigatransfers * 12 / 8 : 12;
  return {per_16 * (link_width > 0 ? link_width : 16) / 16, stated};
}

double socket_gbps(const std::string& arch, const std::string& vendor, int family, int model) {
  if (arch == "ppc64") return 32;
  if (arch == "arm64") return 6;
  if (vendor == "AuthenticAMD") {
    // cpuid's base and extended family side by side, or their sum as the kernel prints it.
    if (family == 0xBF || family == 0x1A) return 32;    // Zen 5
    return family == 0xAF || family == 0x19 ? 24 : 16;  // Zen 3 and 4; Zen 1 and 2
  }
  if (model >= 0xCF) return 40;   // Emerald Rapids
  if (model >= 0x8F) return 22;   // Sapphire Rapids
  return model >= 0x55 ? 10 : 6;  // Skylake; Broadwell
}

void assume_gpu_numbers(Machine& machine, const std::string& gpu) {
  struct Gpu {
    const char* name;
    const char* text;
    double hbm_raw, tflops_raw, sms;
  };
  static constexpr std::array gpus = {
      Gpu{"70", "V100", 900, 125, 80},
      Gpu{"80", "A100 80 GB", 2040, 312, 108},
      Gpu{"90", "H100 SXM", 3350, 989, 132},
      Gpu{"100", "B200", 8000, 2250, 148},
      Gpu{"gfx90a", "one die of MI250X", 1638, 191.5, 110},
      Gpu{"910", "one die of MI250X", 1638, 191.5, 110},
      Gpu{"gfx942", "MI300X", 5300, 1307, 304},
  };
  for (const Gpu& one : gpus) {
    if (gpu != one.name) continue;
    const std::string from = std::string("assumed: ") + one.text;
    machine.numbers["hbm_gbps"] = {one.hbm_raw * 3748 / 4800,
                                   from + " data sheet x h200x2's 3748 of 4800 GB/s", false};
    machine.numbers["gemm_tflops_bf16"] = {
        one.tflops_raw * 756 / 989, from + " dense peak (data sheet) x h200x2's 756 of 989", false};
    machine.numbers["sms"] = {one.sms, from + " data sheet", false};
  }
}

}  // namespace sym::models::detail
