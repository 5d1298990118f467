# gnuplot -e "results='FOLDER'" plot.gp: bus bandwidth against the size, ours as auto chooses and NCCL's best.
if (!exists("results")) results = "results"
set datafile separator ","
set terminal svg size 1000,700 font "sans,12"
set output results."/busbw.svg"
set logscale x 2
set format x "%.0b%BB"
set key left top
set xlabel "bytes"
set ylabel "bus bandwidth, GB/s"
set grid
set multiplot layout 2,2
do for [name in "all_reduce all_gather reduce_scatter all_to_all"] {
  file = results."/".name."_auto.csv"
  set title name noenhanced
  plot file using (column("bytes")):(column("busbw_gbps")) with linespoints title "auto", \
       file using (column("bytes")):(column("busbw_gbps") * column("time_us") / column("baseline_us")) with linespoints title "NCCL's best"
}
unset multiplot
