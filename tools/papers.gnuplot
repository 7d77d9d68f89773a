# SPDX-License-Identifier: Apache-2.0
# Called by tools/plot_papers with `data` (folder of CSV files) and `out` (folder of pictures).
set datafile separator comma
set terminal pngcairo size 860,420 font "DejaVu Sans,10" noenhanced
set key outside right top Left reverse samplen 2 spacing 1.2
set grid lt 1 lw 1 lc rgb "#e0e0e0"
set border lc rgb "#555555"
set tics nomirror

cpus = "library daemon spread"
colour(i) = word("#1b7837 #2166ac #b2182b", i)
file(name) = data . "/" . name . ".csv"
# A rate that is not carried has no latency worth showing.
carried(y) = (column("keeps_up") == 1 ? column(y) : NaN)
ms(y) = carried(y) / 1e3

# What the papers' text says: Mb/s and milliseconds, for one implementation and ring.
$agreed_1g_accelerated << EOD
400,0.4
800,0.72
900,1.2
EOD
$agreed_1g_original << EOD
100,0.4
400,1.2
500,1.3
EOD
$safe_1g_accelerated << EOD
800,2.0
900,4.2
EOD
$safe_1g_original << EOD
600,3.7
600,4.7
EOD
$agreed_10g_accelerated_spread << EOD
1.2,0.310
2.0,1.0
EOD
$agreed_10g_original_spread << EOD
1.0,0.385
1.6,1.0
EOD
$agreed_10g_accelerated_daemon << EOD
2.8,0.265
2.9,0.310
EOD
$agreed_10g_original_daemon << EOD
2.0,0.390
EOD
$agreed_10g_accelerated_library << EOD
3.5,0.310
EOD
$safe_10g_accelerated_spread << EOD
0.1,0.620
1.1,0.700
1.2,0.810
1.35,0.930
EOD
$safe_10g_original_spread << EOD
0.1,0.520
1.1,0.930
EOD
$safe_10g_accelerated_daemon << EOD
3.1,0.980
EOD
$safe_10g_original_daemon << EOD
2.5,1.500
EOD

set xlabel "payload delivered at each node, Mb/s"
set ylabel "mean latency, ms"
set xrange [0:1050]

set output out . "/agreed-1g.png"
set title "Agreed delivery, 1 Gb/s, 8 nodes, 1350 bytes"
set yrange [0:2.5]
plot for [i=1:3] file("1g-" . word(cpus, i) . "-agreed-original") \
       using (column("mbps")):(ms("mean_us")) with linespoints dt 2 pt 6 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", original", \
     for [i=1:3] file("1g-" . word(cpus, i) . "-agreed-accelerated") \
       using (column("mbps")):(ms("mean_us")) with linespoints pt 7 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", accelerated", \
     $agreed_1g_original using 1:2 with points pt 8 ps 2.2 lw 2 lc rgb colour(3) \
       title "papers: Spread, original", \
     $agreed_1g_accelerated using 1:2 with points pt 9 ps 2.2 lc rgb colour(3) \
       title "papers: Spread, accelerated"

set output out . "/safe-1g.png"
set title "Safe delivery, 1 Gb/s, 8 nodes, 1350 bytes"
set yrange [0:8]
plot for [i=1:3] file("1g-" . word(cpus, i) . "-safe-original") \
       using (column("mbps")):(ms("mean_us")) with linespoints dt 2 pt 6 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", original", \
     for [i=1:3] file("1g-" . word(cpus, i) . "-safe-accelerated") \
       using (column("mbps")):(ms("mean_us")) with linespoints pt 7 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", accelerated", \
     $safe_1g_original using 1:2 with points pt 8 ps 2.2 lw 2 lc rgb "black" \
       title "papers: all three, original (range)", \
     $safe_1g_accelerated using 1:2 with points pt 9 ps 2.2 lc rgb "black" \
       title "papers: accelerated"

set xlabel "payload delivered at each node, Gb/s"
gbps(y) = carried(y) / 1e3
set xrange [0:5]

set output out . "/agreed-10g.png"
set title "Agreed delivery, 10 Gb/s, 8 nodes, 1350 bytes"
set yrange [0:1.4]
plot for [i=1:3] file("10g-" . word(cpus, i) . "-agreed-original") \
       using (gbps("mbps")):(ms("mean_us")) with linespoints dt 2 pt 6 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", original", \
     for [i=1:3] file("10g-" . word(cpus, i) . "-agreed-accelerated") \
       using (gbps("mbps")):(ms("mean_us")) with linespoints pt 7 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", accelerated", \
     $agreed_10g_accelerated_library using 1:2 with points pt 9 ps 2.2 lc rgb colour(1) \
       title "papers: accelerated, by colour", \
     $agreed_10g_original_daemon using 1:2 with points pt 8 ps 2.2 lw 2 lc rgb colour(2) \
       title "papers: original, by colour", \
     $agreed_10g_accelerated_daemon using 1:2 with points pt 9 ps 2.2 lc rgb colour(2) notitle, \
     $agreed_10g_original_spread using 1:2 with points pt 8 ps 2.2 lw 2 lc rgb colour(3) notitle, \
     $agreed_10g_accelerated_spread using 1:2 with points pt 9 ps 2.2 lc rgb colour(3) notitle

set output out . "/safe-10g.png"
set title "Safe delivery, 10 Gb/s, 8 nodes, 1350 bytes"
set yrange [0:4]
plot for [i=1:3] file("10g-" . word(cpus, i) . "-safe-original") \
       using (gbps("mbps")):(ms("mean_us")) with linespoints dt 2 pt 6 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", original", \
     for [i=1:3] file("10g-" . word(cpus, i) . "-safe-accelerated") \
       using (gbps("mbps")):(ms("mean_us")) with linespoints pt 7 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", accelerated", \
     $safe_10g_original_daemon using 1:2 with points pt 8 ps 2.2 lw 2 lc rgb colour(2) \
       title "papers: original, by colour", \
     $safe_10g_accelerated_daemon using 1:2 with points pt 9 ps 2.2 lc rgb colour(2) \
       title "papers: accelerated, by colour", \
     $safe_10g_original_spread using 1:2 with points pt 8 ps 2.2 lw 2 lc rgb colour(3) notitle, \
     $safe_10g_accelerated_spread using 1:2 with points pt 9 ps 2.2 lc rgb colour(3) notitle

set output out . "/datagrams-10g.png"
set title "Accelerated ring, 10 Gb/s, 8 nodes: messages of 1350 and of 8850 bytes"
set xrange [0:8]
set yrange [0:2]
plot for [i=1:3] file("10g-" . word(cpus, i) . "-agreed-accelerated") \
       using (gbps("mbps")):(ms("mean_us")) with linespoints dt 2 pt 6 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", 1350, agreed", \
     for [i=1:3] file("10g-large-" . word(cpus, i) . "-agreed-accelerated") \
       using (gbps("mbps")):(ms("mean_us")) with linespoints pt 7 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", 8850, agreed", \
     for [i=1:3] file("10g-large-" . word(cpus, i) . "-safe-accelerated") \
       using (gbps("mbps")):(ms("mean_us")) with linespoints pt 5 lw 1 lc rgb colour(i) \
       title word(cpus, i) . ", 8850, safe"

set output out . "/safe-low-10g.png"
set title "Safe delivery at low rates, 10 Gb/s, 8 nodes, 1350 bytes"
set xlabel "payload delivered at each node, Mb/s"
set xrange [0:850]
set yrange [0:1]
plot for [i=2:3] file("all-low-" . word(cpus, i) . "-original") \
       using (column("mbps")):(ms("mean_us")) with linespoints dt 2 pt 6 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", original", \
     for [i=2:3] file("all-low-" . word(cpus, i) . "-accelerated") \
       using (column("mbps")):(ms("mean_us")) with linespoints pt 7 lw 2 lc rgb colour(i) \
       title word(cpus, i) . ", accelerated", \
     $safe_10g_original_spread using ($1 * 1000):2 with points pt 8 ps 2.2 lw 2 lc rgb colour(3) \
       title "papers: Spread, original", \
     $safe_10g_accelerated_spread using ($1 * 1000):2 with points pt 9 ps 2.2 lc rgb colour(3) \
       title "papers: Spread, accelerated"

set output out . "/loss.png"
set terminal pngcairo size 1000,400 font "DejaVu Sans,10" noenhanced
set multiplot layout 1,3
set xlabel "data packets that each node loses, %"
set xrange [-1:26]
set yrange [0:*]
set offsets 0, 0, graph 0.35, 0
set key inside top left Right noreverse opaque box lc rgb "#dddddd"
titles = "'480 Mb/s on 10 Gb/s' '1200 Mb/s on 10 Gb/s' '140 Mb/s on 1 Gb/s'"
rows = "10g-480M 10g-1200M 1g-140M"
percent(x) = column("loss") * 100
all_ms(y) = column(y) / 1e3
do for [r=1:3] {
  set title word(titles, r)
  prefix = "all-loss-" . word(rows, r)
  plot file(prefix . "-safe-original") using (percent(0)):(all_ms("mean_us")) \
         with linespoints dt 2 pt 6 lw 2 lc rgb colour(3) title "safe, original", \
       file(prefix . "-safe-accelerated") using (percent(0)):(all_ms("mean_us")) \
         with linespoints pt 7 lw 2 lc rgb colour(3) title "safe, accelerated", \
       file(prefix . "-agreed-original") using (percent(0)):(all_ms("mean_us")) \
         with linespoints dt 2 pt 6 lw 2 lc rgb colour(2) title "agreed, original", \
       file(prefix . "-agreed-accelerated") using (percent(0)):(all_ms("mean_us")) \
         with linespoints pt 7 lw 2 lc rgb colour(2) title "agreed, accelerated"
}
unset multiplot

set output out . "/growth.png"
set terminal pngcairo size 820,620 font "DejaVu Sans,10" noenhanced
set multiplot layout 2,2
nets = "1g 10g 25g 100g"
shade(i) = word("#b2182b #2166ac #1b7837 #762a83", i)
set offsets 0, 0, 0, 0
set logscale x 2
set logscale y
set xrange [1.7:38]
set yrange [0.02:50]
set key inside bottom right nobox
set xlabel "nodes"
set ylabel "payload delivered at each node, Gb/s"
set title "Most throughput, 1350 bytes"
plot for [i=1:4] file("all-nodes-" . word(nets, i)) \
       using (column("nodes")):(column("mbps") / 1e3) with linespoints pt 7 lw 2 lc rgb shade(i) \
       title word(nets, i), \
     file("all-nodes-fixed") using (column("nodes")):(column("mbps") / 1e3) \
       with linespoints pt 6 dt 2 lw 2 lc rgb shade(2) title "10g, window 20"
set logscale x 10
set format x "%.0s%c"
set xrange [7:2e6]
set yrange [0.008:100]
set xlabel "bytes of a message"
set title "Most throughput, 8 nodes"
plot for [i=1:4] file("all-bytes-" . word(nets, i)) \
       using (column("payload_bytes")):(column("mbps") / 1e3) with linespoints pt 7 lw 2 \
       lc rgb shade(i) title word(nets, i), \
     file("all-bytes-fixed") using (column("payload_bytes")):(column("mbps") / 1e3) \
       with linespoints pt 6 dt 2 lw 2 lc rgb shade(2) title "10g, window 20"
set ylabel "mean latency, ms"
set yrange [0.05:20]
unset key
set title "Latency, 10g, 8 nodes, 100 Mb/s"
plot file("all-bytes-latency") using (column("payload_bytes")):(all_ms("mean_us")) \
       with linespoints pt 7 lw 2 lc rgb shade(2) notitle
unset format
set logscale x 2
set xrange [1.7:38]
set yrange [0.05:1]
set xlabel "nodes"
set title "Latency, 10g, 1350 bytes, 1 Gb/s"
plot file("all-nodes-latency") using (column("nodes")):(all_ms("mean_us")) \
       with linespoints pt 7 lw 2 lc rgb shade(2) notitle
unset multiplot
