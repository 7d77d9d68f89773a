# SPDX-License-Identifier: Apache-2.0
# The Ridge paper's experiments. Called by tools/plot_papers with `data` (folder of CSV files) and
# `out` (folder of pictures).
set datafile separator comma
set border lc rgb "#555555"
set tics nomirror
file(name) = data . "/" . name . ".csv"
# A rate that is not carried has no latency worth showing.
carried_ms(y) = (column("keeps_up") == 1 ? column(y) / 1e3 : NaN)

ways = "ridge_disk ridge ring paxos classic"
way_names = "'Ridge, 50 us a sync' 'Ridge' 'ring' 'Paxos, multicast' 'Paxos, unicast'"
way_colour(i) = word("#2166ac #67a9cf #1b7837 #ef8a62 #b2182b", i)

set output out . "/destinations.png"
set terminal pngcairo size 1100,400 font "DejaVu Sans,10" noenhanced
set multiplot layout 1,3
set xlabel "nodes beside three acceptors"
set ylabel "payload delivered at each node, Mb/s"
set logscale x 2
set xrange [0.9:36]
set yrange [0:1300]
set ytics 200
set key inside top right Left reverse
do for [bytes in "65536 8192 200"] {
  set title bytes . " bytes, as much as possible"
  plot for [i=1:5] file("all-to-" . word(ways, i) . "-" . bytes) \
         using (column("nodes") - 3):(column("mbps")) with linespoints pt 7 lw 2 \
         lc rgb way_colour(i) title word(way_names, i)
}
unset multiplot

set output out . "/quorum-latency.png"
set terminal pngcairo size 860,420 font "DejaVu Sans,10" noenhanced
unset logscale x
set xrange [0:1000]
set yrange [0:1]
set ytics autofreq
set key outside right top Left reverse
set xlabel "payload delivered at each node, Mb/s"
set ylabel "mean latency, ms"
set title "1 Gb/s, 7 nodes, messages of 8192 bytes, one sender"
plot for [i=1:5] file("load-" . word(ways, i)) using (column("mbps")):(carried_ms("mean_us")) \
       with linespoints pt 7 lw 2 lc rgb way_colour(i) title word(way_names, i)
