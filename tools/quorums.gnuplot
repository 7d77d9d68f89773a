# SPDX-License-Identifier: Apache-2.0
# Learners beside three acceptors, on real nodes. Called by tools/plot_quorums with `data` (a CSV file)
# and `out` (folder of pictures).
set datafile separator comma
set border lc rgb "#555555"
set tics nomirror
orders = "ring ridge paxos"
names = "'ring' 'Ridge' 'Paxos'"
colour(i) = word("#1b7837 #2166ac #ef8a62", i)
of(i, bytes, y) = (strcol("order") eq word(orders, i) && column("bytes") == bytes ? y : NaN)

set output out . "/quorums.png"
set terminal pngcairo size 1100,640 font "DejaVu Sans,10" noenhanced
set multiplot layout 2,3
set logscale x 2
set xrange [0.9:18]
set xtics (1, 2, 4, 8, 16)
set grid ytics back lt 1 lw 1 lc rgb "#dddddd"
set datafile missing NaN

set ylabel "Mb/s at each node"
set yrange [0:*]
do for [n=1:3] {
  bytes = word("200 8192 65536", n) + 0
  set title sprintf("messages of %d bytes", bytes)
  if (n == 1) { set key inside top right Left reverse } else { set key off }
  plot for [i=1:3] data using (column("learners")):(of(i, bytes, column("mbps"))) \
         with linespoints pt 7 lw 2 lc rgb colour(i) title word(names, i)
}
unset title
set key off
set xlabel "nodes beside three acceptors"
set ylabel "median latency, ms"
set logscale y
set yrange [3:1000]
do for [n=1:3] {
  bytes = word("200 8192 65536", n) + 0
  plot for [i=1:3] data using (column("learners")):(of(i, bytes, column("p50_us") / 1e3)) \
         with linespoints pt 7 lw 2 lc rgb colour(i) title word(names, i)
}
unset multiplot
