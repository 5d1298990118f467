# Growth with the number of GPUs: processor time and memory. Called by run.sh.
set terminal svg size 900,420 background "white"
set output results."/growth.svg"
set datafile separator ","
set logscale xy
set key below
set grid
set xrange [6:25000]
set xlabel "GPUs"
set multiplot layout 1,2
of(program, network) = "< awk -F, '$1 == \"".program."\" && $2 == \"".network."\"' ".results."/growth.csv"
set ylabel "processor time (s)"
plot of("rails", "ports") using 3:6 with linespoints title "all-reduce, rails (ports)", \
     of("rails", "simgrid") using 3:6 with linespoints title "all-reduce, rails (SimGrid)", \
     of("two_hop", "ports") using 3:6 with linespoints title "all-to-all, two-hop (ports)", \
     of("two_hop", "simgrid") using 3:6 with linespoints title "all-to-all, two-hop (SimGrid)", \
     of("direct", "ports") using 3:6 with linespoints title "all-to-all, direct (ports)"
set ylabel "peak memory (MiB)"
plot of("rails", "ports") using 3:8 with linespoints title "all-reduce, rails (ports)", \
     of("two_hop", "ports") using 3:8 with linespoints title "all-to-all, two-hop (ports)", \
     of("direct", "ports") using 3:8 with linespoints title "all-to-all, direct (ports)"
unset multiplot
