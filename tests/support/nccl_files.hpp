// Topology files of NCCL and RCCL, written by hand after real ones.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace tilerail::nccl_files {

/// A cloud instance, for NCCL_TOPO_FILE: GPUs identified by class only, with a network
/// card between them, and comments.
inline std::string cloud() {
  return R"(<!--
  Static topology of an instance.
-->
<system version="1">
  <cpu numaid="0" affinity="0000ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="ffff:ff:01.0" class="0x060400" vendor="0xffff" link_speed="32.0 GT/s PCIe" link_width="16">  <!-- 0 -->
      <pci busid="0001:00:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/> <!-- GPU 0 -->
      <pci busid="0101:00:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16"/> <!-- NIC 0 -->
      <pci busid="0002:00:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/> <!-- GPU 1 -->
    </pci>
  </cpu>
  <cpu numaid="1" affinity="ffff0000" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="ffff:ff:02.0" class="0x060400" vendor="0xffff" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0003:00:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/>
      <pci busid="0004:00:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/>
    </pci>
  </cpu>
</system>
)";
}

/// A job with GPUs 0 and 5 of a DGX-1; the other GPUs appear only as ends of NVLinks.
inline std::string hidden_gpus() {
  return R"(<system version="1">
  <cpu numaid="0" affinity="ff" arch="x86_64">
    <pci busid="0000:06:00.0" class="0x030200" link_speed="8 GT/s" link_width="16">
      <gpu dev="0" sm="70" rank="0">
        <nvlink target="0000:07:00.0" count="1" tclass="0x030200"/>
        <nvlink target="0000:0a:00.0" count="1" tclass="0x030200"/>
        <nvlink target="0000:0b:00.0" count="2" tclass="0x030200"/>
        <nvlink target="0000:85:00.0" count="2" tclass="0x030200"/>
      </gpu>
    </pci>
  </cpu>
  <cpu numaid="1" affinity="ff00" arch="x86_64">
    <pci busid="0000:86:00.0" class="0x030200" link_speed="8 GT/s" link_width="16">
      <gpu dev="5" sm="70" rank="1">
        <nvlink target="0000:07:00.0" count="2" tclass="0x030200"/>
        <nvlink target="0000:8a:00.0" count="2" tclass="0x030200"/>
      </gpu>
    </pci>
  </cpu>
</system>
)";
}

/// RCCL: four GPUs, each behind a PCIe switch and with a link to every other GPU.
inline std::string xgmi(const std::string& gcn = "gfx942", int count = 1) {
  std::string pci;
  for (int gpu = 0; gpu < 4; ++gpu) {
    pci += fmt::format(
        "    <pci busid=\"0000:0{}:00.0\" class=\"0x060400\" link_speed=\"32.0 GT/s "
        "PCIe\" link_width=\"16\">\n"
        "      <pci busid=\"0000:1{}:00.0\" class=\"0x120000\" vendor=\"0x1002\" "
        "device=\"0x74a1\" "
        "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n"
        "        <gpu dev=\"{}\" sm=\"94\" gcn=\"{}\" arch=\"38911\" rank=\"{}\" "
        "gdr=\"1\">\n",
        gpu + 1, gpu, gpu, gcn, gpu);
    for (int peer = 0; peer < 4; ++peer)
      if (peer != gpu)
        pci += fmt::format(
            "          <xgmi target=\"0000:1{}:00.0\" count=\"{}\" "
            "tclass=\"0x120000\"/>\n",
            peer, count);
    pci += "        </gpu>\n      </pci>\n    </pci>\n";
  }
  return "<system version=\"2\">\n  <cpu numaid=\"0\" arch=\"x86_64\" "
         "vendor=\"AuthenticAMD\" familyid=\"175\" "
         "modelid=\"17\">\n" +
         pci + "  </cpu>\n</system>\n";
}

/// Eight GPUs in pairs below PCIe switches, four NUMA domains with gaps in their numbers,
/// and six NVSwitches.
inline std::string dgx() {
  std::string text = "<system version=\"1\">\n";
  for (int domain = 0; domain < 4; ++domain) {
    text += fmt::format(
        "  <cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"23\" "
        "modelid=\"49\">\n"
        "    <pci busid=\"0000:{}1:00.0\" class=\"0x060400\" link_speed=\"16.0 GT/s "
        "PCIe\" link_width=\"16\">\n",
        2 * domain + 1, domain);
    for (int gpu = 2 * domain; gpu < 2 * domain + 2; ++gpu) {
      text += fmt::format(
          "      <pci busid=\"0000:{}{}:00.0\" class=\"0x030200\" link_speed=\"16.0 GT/s "
          "PCIe\" link_width=\"16\">\n"
          "        <gpu dev=\"{}\" sm=\"80\" rank=\"{}\" gdr=\"1\">\n",
          domain, 4 + gpu % 2, gpu, gpu);
      for (int nvs = 0; nvs < 6; ++nvs)
        text += fmt::format(
            "          <nvlink target=\"0000:c{}:00.0\" count=\"2\" "
            "tclass=\"0x068000\"/>\n",
            nvs);
      text += "        </gpu>\n      </pci>\n";
    }
    text += "    </pci>\n  </cpu>\n";
  }
  return text + "</system>\n";
}

/// DGX-1: eight V100 as a hybrid cube mesh, each with six NVLinks.
inline std::string cube_mesh() {
  const std::vector<std::pair<int, int>> doubles{{0, 3}, {0, 4}, {1, 2}, {1, 5},
                                                 {2, 3}, {4, 7}, {5, 6}, {6, 7}};
  const std::vector<std::pair<int, int>> singles{{0, 1}, {0, 2}, {1, 3}, {2, 6},
                                                 {3, 7}, {4, 5}, {4, 6}, {5, 7}};
  const auto address = [](int gpu) {
    return fmt::format("0000:{}{}:00.0", gpu < 4 ? 0 : 8, gpu % 4 + 6);
  };
  std::string text = "<system version=\"1\">\n";
  for (int domain = 0; domain < 2; ++domain) {
    text += fmt::format(
        "  <cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" "
        "modelid=\"79\">\n",
        domain);
    for (int pair = 0; pair < 2; ++pair) {
      text += fmt::format(
          "    <pci busid=\"0000:{}{}:00.0\" class=\"0x060400\" link_speed=\"8 GT/s\" "
          "link_width=\"16\">\n",
          domain == 0 ? 0 : 8, pair + 2);
      for (int gpu = 4 * domain + 2 * pair; gpu < 4 * domain + 2 * pair + 2; ++gpu) {
        text += fmt::format(
            "      <pci busid=\"{}\" class=\"0x030200\" link_speed=\"8 GT/s\" "
            "link_width=\"16\">\n"
            "        <gpu dev=\"{}\" sm=\"70\" rank=\"{}\" gdr=\"1\">\n",
            address(gpu), gpu, gpu);
        for (const auto& [links, count] :
             {std::pair{&doubles, 2}, std::pair{&singles, 1}})
          for (const auto& [a, b] : *links)
            if (a == gpu || b == gpu)
              text += fmt::format(
                  "          <nvlink target=\"{}\" count=\"{}\" tclass=\"0x030200\"/>\n",
                  address(a == gpu ? b : a), count);
        text += "        </gpu>\n      </pci>\n";
      }
      text += "    </pci>\n";
    }
    text += "  </cpu>\n";
  }
  return text + "</system>\n";
}

/// Two V100 of a POWER9, with NVLinks to the processor and to each other.
inline std::string power9() {
  std::string gpus;
  for (int gpu = 0; gpu < 2; ++gpu) {
    gpus += fmt::format(
        "    <pci busid=\"0004:0{}:00.0\" class=\"0x030200\" link_speed=\"8 GT/s\" "
        "link_width=\"8\">\n      <gpu "
        "dev=\"{}\" "
        "sm=\"70\" rank=\"{}\">\n",
        4 + gpu, gpu, gpu);
    for (int bridge = 0; bridge < 3; ++bridge)
      gpus += fmt::format(
          "        <nvlink target=\"0007:00:0{}.{}\" count=\"1\" tclass=\"0x068001\"/>\n",
          gpu, bridge);
    gpus += fmt::format(
        "        <nvlink target=\"0004:0{}:00.0\" count=\"3\" tclass=\"0x030200\"/>\n    "
        "  </gpu>\n    </pci>\n",
        5 - gpu);
  }
  return "<system version=\"1\">\n  <cpu numaid=\"0\" arch=\"ppc64\">\n" + gpus +
         "  </cpu>\n</system>\n";
}

/// Two GPUs, each with NVLink-C2C to its own Grace.
inline std::string grace() {
  std::string text = "<system version=\"1\">\n";
  for (int gpu = 0; gpu < 2; ++gpu)
    text += fmt::format(
        "  <cpu host_hash=\"0xabc\" numaid=\"{}\" arch=\"arm64\">\n    <pci "
        "busid=\"000{}:01:00.0\" class=\"0x030200\" "
        "link_speed=\"2.5 GT/s PCIe\" link_width=\"1\">\n      <gpu dev=\"{}\" sm=\"90\" "
        "rank=\"{}\">\n"
        "        <nvlink target=\"000{}:01:00.0\" count=\"18\" tclass=\"0x030200\"/>\n"
        "        <c2c bw=\"44712\" count=\"10\"/>\n      </gpu>\n    </pci>\n  </cpu>\n",
        gpu, gpu, gpu, gpu, 1 - gpu);
  return text + "</system>\n";
}

/// Two virtual switches of one Broadcom chip, joined by a pcilink, each with a GPU.
inline std::string joined_switches() {
  std::string text = "<system version=\"1\">\n  <cpu numaid=\"0\" arch=\"x86_64\">\n";
  for (int part = 0; part < 2; ++part)
    text += fmt::format(
        "    <pci busid=\"0000:{}1:00.0\" class=\"0x060400\" vendor=\"0x1000\" "
        "link_speed=\"16.0 GT/s PCIe\" "
        "link_width=\"16\">\n      <pci busid=\"0000:{}2:00.0\" class=\"0x030200\" "
        "link_speed=\"32.0 GT/s PCIe\" "
        "link_width=\"16\"><gpu dev=\"{}\" sm=\"90\" rank=\"{}\"/></pci>\n      <pcilink "
        "target=\"0000:{}1:00.0\"/>\n"
        "    </pci>\n",
        part, part, part, part, 1 - part);
  return text + "  </cpu>\n</system>\n";
}

/// All files by name.
inline std::vector<std::pair<std::string, std::string>> all() {
  return {{"cloud", cloud()},
          {"hidden GPUs", hidden_gpus()},
          {"xGMI", xgmi()},
          {"xGMI of gfx90a, counts", xgmi("gfx90a:sramecc+:xnack-", 2)},
          {"DGX", dgx()},
          {"cube mesh", cube_mesh()},
          {"POWER9", power9()},
          {"Grace", grace()},
          {"joined switches", joined_switches()}};
}

}  // namespace tilerail::nccl_files
