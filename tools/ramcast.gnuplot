# SPDX-License-Identifier: Apache-2.0
# The RamCast paper's experiments. Called by tools/plot_papers with `data` (folder of CSV files) and
# `out` (folder of pictures).
set datafile separator comma
set border lc rgb "#555555"
set tics nomirror
set grid ytics back lt 1 lw 1 lc rgb "#dddddd"
file(name) = data . "/all-" . name . ".csv"
ramcast = "#2166ac"
whitebox = "#b2182b"

# Figure 5: groups; thousand messages a second of RamCast and of WBCast.
$paper << EOD
1,233,63
2,145,50
4,80,35
8,40,27
EOD
# Its latencies with one client, 95th percentile in microseconds.
$latency << EOD
1,8,214
2,46,445
4,78,673
8,150,1055
EOD

set output out . "/ramcast-groups.png"
set terminal pngcairo size 1100,420 font "DejaVu Sans,10" noenhanced
set multiplot layout 1,3
set logscale x 2
set xrange [0.9:9]
set xtics (1, 2, 4, 8)
set xlabel "domains"
set ylabel "thousand messages/s"
set logscale y
set yrange [10:4000]
set key inside top left Left reverse samplen 2
set title "Each message to one domain (fig. 5, left)"
plot file("one-ramcast") using (column("domains")):(column("total_messages_per_second") / 1e3) \
       with linespoints pt 7 lw 2 lc rgb ramcast title "RamCast, model", \
     file("one-whitebox") using (column("domains")):(column("total_messages_per_second") / 1e3) \
       with linespoints pt 7 lw 2 lc rgb whitebox title "white-box, model", \
     $paper using 1:($1 * 233) with points pt 9 ps 1.8 lc rgb ramcast \
       title "paper: linear, from 233", \
     $paper using 1:($1 * 63) with points pt 9 ps 1.8 lc rgb whitebox title "paper: linear, from 63"
set title "Each message to all domains (fig. 5, right)"
set yrange [10:600]
set key inside bottom left
plot file("all-ramcast") using (column("domains")):(column("total_messages_per_second") / 1e3) \
       with linespoints pt 7 lw 2 lc rgb ramcast title "RamCast, model", \
     file("all-whitebox") using (column("domains")):(column("total_messages_per_second") / 1e3) \
       with linespoints pt 7 lw 2 lc rgb whitebox title "white-box, model", \
     $paper using 1:2 with points pt 9 ps 1.8 lc rgb ramcast title "RamCast, paper", \
     $paper using 1:3 with points pt 9 ps 1.8 lc rgb whitebox title "white-box, paper"
set title "One client, 95th percentile"
set ylabel "µs"
set yrange [1:2000]
set key inside bottom right
plot file("client-all-ramcast") using (column("domains")):(column("reply_p95_us")) \
       with linespoints pt 7 lw 2 lc rgb ramcast title "RamCast, model", \
     file("client-all-whitebox") using (column("domains")):(column("reply_p95_us")) \
       with linespoints pt 7 lw 2 lc rgb whitebox title "white-box, model", \
     $latency using 1:2 with points pt 9 ps 1.8 lc rgb ramcast title "RamCast, paper", \
     $latency using 1:3 with points pt 9 ps 1.8 lc rgb whitebox title "white-box, paper"
unset multiplot

# Figure 4: bytes; thousand messages a second, as far as the text says them.
$sizes << EOD
64,250
4096,250
32768,70
EOD
$size_latency << EOD
64,8
2048,8
4096,10
EOD
set output out . "/ramcast-sizes.png"
set terminal pngcairo size 860,400 font "DejaVu Sans,10" noenhanced
set multiplot layout 1,2
set xrange [50:45000]
set xtics (64, 256, 1024, 4096, 16384)
set xlabel "bytes of a message"
set ylabel "thousand messages/s"
unset logscale y
set yrange [0:300]
set title "One domain, 12 clients (fig. 4, left)"
plot file("size-ramcast") using (column("payload_bytes")):(column("messages_per_second") / 1e3) \
       with linespoints pt 7 lw 2 lc rgb ramcast title "model", \
     $sizes using 1:2 with points pt 9 ps 1.8 lc rgb ramcast title "paper"
set ylabel "µs"
set yrange [0:*]
set key inside top left
set title "One client, 95th percentile (fig. 4, right)"
plot file("client-size") using (column("payload_bytes")):(column("reply_p95_us")) \
       with linespoints pt 7 lw 2 lc rgb ramcast title "model", \
     $size_latency using 1:2 with points pt 9 ps 1.8 lc rgb ramcast title "paper"
unset multiplot

# Figure 6.
set output out . "/ramcast-near.png"
set terminal pngcairo size 640,400 font "DejaVu Sans,10" noenhanced
unset logscale x
set xrange [-0.6:5.6]
set xtics autofreq rotate by -30
set xlabel ""
set yrange [0:*]
set key off
set title "One client and one domain: median (fig. 6)"
label(order, outside, bytes) = (order eq "paxos" ? "Paxos" : outside > 0 ? "outside" : "at the leader") \
                               . ", " . bytes . " B"
plot file("near") using 0:(column("reply_p50_us")):(0.7): \
       xtic(label(strcol("order"), column("outside"), strcol("payload_bytes"))) \
       with boxes fs solid 0.8 lc rgb ramcast

# The published algorithm with one error: shares of the runs with a violation.
set output out . "/ramcast-errors.png"
set terminal pngcairo size 760,400 font "DejaVu Sans,10" noenhanced
set xrange [-0.6:6.6]
set yrange [0:1]
set ylabel "share of the runs"
set bmargin 4
set title "Runs with a violation, one error of the published algorithm at a time"
errors = "'none calm' 'x1 calm' 'x4 calm' 'none x5' 'x5 x5' 'none x10' 'x10 x10'"
share(error, faults, i) = (error . " " . faults eq word(errors, i + 1) ? \
                           column("violations") / column("seeds") : NaN)
set xtics norotate
set xtics ("none" 0, "X1" 1, "X4" 2, "X5's case,\nnone" 3, "X5's case,\nX5" 4, "X10's case,\nnone" 5, \
           "X10's case,\nX10" 6)
plot for [i=0:6] file("published") using (i):(share(strcol("error"), strcol("faults"), i)):(0.7) \
       with boxes fs solid 0.8 lc rgb (word(errors, i + 1)[1:4] eq "none" ? "#1b7837" : whitebox)

# Figure 1: a write or a datagram and its answer, measured.
set output out . "/ramcast-fabrics.png"
set terminal pngcairo size 760,420 font "DejaVu Sans,10" noenhanced
set logscale xy
set bmargin
set xtics norotate
set xrange [50:40000]
set yrange [0.5:300]
set xtics (64, 256, 1024, 4096, 16384, 32768)
set xlabel "bytes"
set ylabel "µs"
set key outside right Left reverse samplen 2
set title "A write and its answer, between two processes of one machine"
round_trip(what, waiting) = (strcol("what") eq what && strcol("waiting") eq waiting ? \
                             column("microseconds") : NaN)
plot data . "/fabrics.csv" using (column("bytes")):(round_trip("shm", "polling")) \
       with linespoints pt 7 lw 2 lc rgb ramcast title "shm, polling", \
     "" using (column("bytes")):(round_trip("shm", "doorbell")) \
       with linespoints pt 6 lw 2 dt 2 lc rgb ramcast title "shm, asleep", \
     "" using (column("bytes")):(round_trip("udp", "polling")) \
       with linespoints pt 7 lw 2 lc rgb "#1b7837" title "UDP, polling", \
     "" using (column("bytes")):(round_trip("udp", "asleep")) \
       with linespoints pt 6 lw 2 dt 2 lc rgb "#1b7837" title "UDP, asleep", \
     "" using (column("bytes")):(round_trip("tcp", "polling")) \
       with linespoints pt 7 lw 2 lc rgb whitebox title "tcp, polling", \
     "" using (column("bytes")):(round_trip("tcp", "asleep")) \
       with linespoints pt 6 lw 2 dt 2 lc rgb whitebox title "tcp, asleep"
