// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/plot.h"

#include <cstdio>
#include <fstream>

#include "cli/node/process.h"
#include "cli/text.h"
#include "trace/words.h"

namespace peal::cli {
namespace {

bool write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::trunc);
  out << text;
  out.close();
  return static_cast<bool>(out);
}

/// Quotes a string for gnuplot, where a single quote is doubled.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

std::string plain(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

}  // namespace

std::string csv_path(const std::string& png) { return png.substr(0, png.size() - 4) + ".csv"; }

std::string csv_of(const std::vector<SweepPoint>& points) {
  std::string text = "rate_mbit_per_s";
  for (const auto& field : fields_of(BenchFigures{})) text += "," + std::string(field.name);
  text += "\n";
  for (const SweepPoint& point : points) {
    text += plain(point.rate_mbit_per_s);
    for (const auto& field : fields_of(BenchFigures{})) {
      text += "," + plain(point.figures.*field.value);
    }
    text += "\n";
  }
  return text;
}

std::string plot_script(const BenchCommand& c, const std::string& csv, const std::string& png) {
  std::string title = "Latency against throughput: " + counted(c.nodes, "node") + ", messages of " +
                      counted(c.payload_bytes, "byte") + ", " +
                      std::string(trace::word_of(c.service));
  if (c.loss_percent > 0) title += ", " + decimal(c.loss_percent) + " % loss";
  std::string below = c.loopback ? "on the loopback interface" : "in namespaces on one bridge";
  if (c.link_bits_per_s > 0) below += ", links of " + decimal(c.link_bits_per_s / 1e6) + " Mb/s";
  below += "; for each point the median of " + counted(c.runs, "run") + " of " +
           decimal(c.seconds) + " s";
  return "set encoding utf8\n"
         "set terminal pngcairo size 1000,640 font 'sans,12'\n"
         "set output " +
         in_quotes(png) +
         "\n"
         "set datafile separator ','\n"
         "set title " +
         in_quotes(title) + ".\"\\n{/*0.8 " + below +
         "}\" font 'sans,14'\n"
         "set xlabel 'payload that each receiver got (Mb/s)'\n"
         "set ylabel 'latency from due to delivered'\n"
         "set logscale y 10\n"
         "set xrange [0:*]\n"
         "set format x '%.0f'\n"
         "set ytics ('1 µs' 1, '10 µs' 10, '100 µs' 1e2, '1 ms' 1e3, '10 ms' 1e4, '100 ms' 1e5,"
         " '1 s' 1e6, '10 s' 1e7)\n"
         "set style line 9 lt 1 lw 1 dt solid lc rgb '#d8d8d8'\n"
         "set grid xtics ytics back ls 9\n"
         "set border 3\n"
         "set tics nomirror out\n"
         "set key top left reverse Left samplen 3 spacing 1.3\n"
         "file = " +
         in_quotes(csv) +
         "\n"
         "plot file using 'throughput_mbit_per_s':'latency_p99_us' with linespoints title 'p99'"
         " lw 2 pt 5 ps 1.2 lc rgb '#c44e52', \\\n"
         "     file using 'throughput_mbit_per_s':'latency_p50_us' with linespoints title 'p50'"
         " lw 2 pt 7 ps 1.2 lc rgb '#4c72b0'\n";
}

Result<void, std::string> write_plot(const BenchCommand& command, const std::string& dir,
                                     const std::vector<SweepPoint>& points) {
  const std::string csv = csv_path(command.plot);
  if (!write_text(csv, csv_of(points))) return unexpected("cannot write " + quote(csv));
  const std::string gnuplot = find_program("gnuplot");
  if (gnuplot.empty()) {
    return unexpected(quote(csv) + " is written, and " + quote(command.plot) +
                      " is not: install the package gnuplot-nox to draw it");
  }
  const std::string script = dir + "/plot.gnuplot";
  if (!write_text(script, plot_script(command, csv, command.plot))) {
    return unexpected("cannot write to " + dir);
  }
  const auto drawn = run_program(gnuplot, {script});
  if (!drawn) return unexpected(drawn.error());
  if (drawn->status != 0) {
    return unexpected("gnuplot could not draw " + quote(command.plot) + ": " + drawn->output);
  }
  return {};
}

}  // namespace peal::cli
