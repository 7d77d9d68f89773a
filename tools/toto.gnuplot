# SPDX-License-Identifier: Apache-2.0
# The ToTo paper's experiments. Called by tools/plot_papers with `data` (folder of CSV files) and
# `out` (folder of pictures).
set datafile separator comma
set border lc rgb "#555555"
set tics nomirror
set grid ytics back lt 1 lw 1 lc rgb "#dddddd"
file(name) = data . "/all-" . name . ".csv"
toto = "#2166ac"
all_ack = "#b2182b"

# Tables 2 to 5: messages per second; ToTo and all-ack, observed; the same, predicted.
$periodic << EOD
50,76.68,135.02,75.67,137.51
100,42.31,68.78,44.87,69.35
150,29.17,45.59,29.29,47.34
200,23.80,43.71,24.78,35.96
EOD
$poisson << EOD
50,114.10,385.25,122.34,396.17
100,60.98,188.06,66.64,194.58
150,44.10,133.09,52.34,137.79
200,39.37,102.33,46.12,111.45
EOD

set output out . "/toto-wait.png"
set terminal pngcairo size 1000,420 font "DejaVu Sans,10" noenhanced
set multiplot layout 1,2
set xlabel "messages per second, of 8 members together"
set ylabel "wait for the decision, ms"
set xrange [40:210]
set logscale y
set ytics (20, 30, 50, 70, 100, 200, 300, 500)
set key inside top right Left reverse samplen 2
do for [kind in "periodic poisson"] {
  set title (kind eq "periodic" ? "Periodic sources (tables 2, 4)" : "Poisson sources (tables 3, 5)")
  set yrange [(kind eq "periodic" ? 15 : 25):(kind eq "periodic" ? 250 : 700)]
  plot file("toto-" . kind . "-all-ack") using (column("rate")):(column("wait_us") / 1e3) \
         with linespoints pt 7 lw 2 lc rgb all_ack title "all-ack, model", \
       file("toto-" . kind . "-all-ack") using (column("rate")):(column("expected_wait_us") / 1e3) \
         with lines dt 2 lw 1 lc rgb all_ack title "all-ack, formula", \
       "$" . kind using 1:3 with points pt 9 ps 1.8 lc rgb all_ack title "all-ack, paper", \
       file("toto-" . kind . "-toto") using (column("rate")):(column("wait_us") / 1e3) \
         with linespoints pt 7 lw 2 lc rgb toto title "ToTo, model", \
       file("toto-" . kind . "-toto") using (column("rate")):(column("expected_wait_us") / 1e3) \
         with lines dt 2 lw 1 lc rgb toto title "ToTo, formula", \
       file("toto-short-" . kind . "-toto") using (column("rate")):(column("wait_us") / 1e3) \
         with lines dt 3 lw 2 lc rgb toto title "ToTo, delay 1 ms", \
       "$" . kind using 1:2 with points pt 9 ps 1.8 lc rgb toto title "ToTo, paper"
}
unset multiplot
unset logscale y
set ytics autofreq

# Figures 5 and 6.
set output out . "/toto-index.png"
set terminal pngcairo size 1000,480 font "DejaVu Sans,10" noenhanced
set multiplot layout 2,4
set style fill solid 0.8
set boxwidth 0.7
set xrange [4.3:8.7]
set xtics 5,1,8
set yrange [0:1]
set key off
set xlabel "index of latency"
share(load, y) = (column("rate") == load ? y : NaN)
do for [kind in "periodic poisson"] {
  do for [load in "50 100 150 200"] {
    set title kind . ", " . load . " messages/s"
    set ylabel (load eq "50" ? "share of the messages" : "")
    plot for [i=0:3] file("toto-" . kind . "-toto") \
           using (5 + i):(share(load + 0, column("index_share_" . i))) with boxes lc rgb toto
  }
}
unset multiplot

# How many times as long an acknowledgement of all members takes.
$ideal << EOD
4,2.20,1.50
6,2.91,1.67
8,3.41,1.75
16,4.57,1.88
32,5.68,1.94
EOD
set output out . "/toto-speedup.png"
set terminal pngcairo size 700,420 font "DejaVu Sans,10" noenhanced
set title "Wait with all-ack by wait with ToTo, 10 messages/s"
set xlabel "members"
set ylabel "speed-up"
set logscale x 2
set xrange [3.5:36]
set xtics (4, 6, 8, 16, 32)
set yrange [1:6.5]
set key inside top left Left reverse
# The rows of two files, side by side.
quotient(kind) = "< paste -d, " . file("speed-" . kind . "-all-ack") . " " . \
                 file("speed-" . kind . "-toto")
columns = system("head -n 1 " . file("speed-poisson-toto") . " | tr -cd , | wc -c") + 1
wait_column = system("head -n 1 " . file("speed-poisson-toto") . \
                     " | tr , '\\n' | grep -n '^wait_us$' | cut -d: -f1") + 0
plot quotient("poisson") using 3:(column(wait_column) / column(wait_column + columns)) skip 1 \
       with linespoints pt 7 lw 2 lc rgb toto title "Poisson, model", \
     $ideal using 1:2 with linespoints pt 8 dt 2 lc rgb toto title "Poisson, ideal", \
     quotient("periodic") using 3:(column(wait_column) / column(wait_column + columns)) skip 1 \
       with linespoints pt 7 lw 2 lc rgb all_ack title "periodic, model", \
     $ideal using 1:3 with linespoints pt 8 dt 2 lc rgb all_ack title "periodic, ideal"

# Medians of all engines.
label(order, service, delivery) = (delivery eq "all-ack" ? "toto, all-ack" : order . ", " . service)
set output out . "/toto-engines.png"
set terminal pngcairo size 1000,460 font "DejaVu Sans,10" noenhanced
unset logscale x
set multiplot layout 1,2
set key off
set xlabel ""
set ylabel "median latency, µs"
set xrange [-0.6:8.6]
set xtics autofreq rotate by -40
set yrange [0:*]
set title "8 nodes, 1 Gb/s, 200 bytes, 1000 messages/s"
plot file("engine-near") using 0:(column("p50_us")):(0.7): \
       xtic(label(strcol("order"), strcol("service"), strcol("delivery"))) \
       with boxes lc rgb toto
set logscale y
set yrange [30:1e5]
set title "One node 20 ms away: messages between the others"
plot file("engine-far") using 0:(column("p50_us")):(0.7): \
       xtic(label(strcol("order"), strcol("service"), strcol("delivery"))) \
       with boxes lc rgb toto
unset multiplot
set xtics (4, 6, 8, 16, 32) norotate

# What a node of the graph costs a member.
set output out . "/toto-work.png"
set terminal pngcairo size 860,420 font "DejaVu Sans,10" noenhanced
set title "Elementary operations of the total order, for each node of the graph"
set xlabel "members"
set logscale x 2
set xrange [3.5:36]
set ylabel "operations"
set logscale y
set yrange [1:*]
set key outside right top Left reverse
rows = "50 200 switch"
row_names = "'bus, 50 messages/s' 'bus, 200 messages/s' '1 Gb/s, 5000 messages/s'"
shade(i) = word("#1b7837 #2166ac #b2182b", i)
plot for [i=1:3] file("steps-" . word(rows, i)) using (column("nodes")):(column("order_steps")) \
       with linespoints pt 7 lw 2 lc rgb shade(i) title word(row_names, i), \
     for [i=1:3] file("steps-" . word(rows, i)) \
       using (column("nodes")):(column("order_steps_bound")) \
       with linespoints pt 6 dt 2 lw 1 lc rgb shade(i) title word(row_names, i) . ", bound"
