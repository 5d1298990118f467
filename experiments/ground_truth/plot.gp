# Measured and simulated time of each file, and the error: accuracy.svg. In the folder of points.csv.
set datafile separator ","
set terminal svg size 1100,760 font "sans,11"
set output "accuracy.svg"
set logscale x 2
set format x "%.0b %BB"
set xtics 1024,32,17179869184
set grid
set key outside right top
set xlabel "bytes"
set ylabel "simulated over measured - 1, %"
set yrange [-80:80]
names = system("tail -n +2 points.csv | cut -d, -f1 | awk '!seen[$0]++' | paste -sd' '")
set arrow from graph 0, first 15 to graph 1, first 15 nohead dt 2 lc rgb "gray"
set arrow from graph 0, first -15 to graph 1, first -15 nohead dt 2 lc rgb "gray"
plot for [i = 1:words(names)] "points.csv" using (strcol(1) eq word(names, i) ? $2 : NaN):6 \
  every ::1 with linespoints lc i pt i ps 0.5 title word(names, i)
