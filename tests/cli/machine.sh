#!/usr/bin/env bash
# Machines from outside: files of other programs, conversion, changed numbers, several in one run.
source "$(dirname "$0")/common.bash"
sim=("$SYM" run all_reduce --backend sim --no-data --network ports)

# Every machine that is listed can be shown, and what it says of itself is read again.
for name in $("$SYM" list --json | sed -n '/"machines"/,/]/p' | grep -oE '"[a-z0-9-]+"' | tr -d '"' | grep -v '^machines$'); do
  try 0 "$SYM" machine "$name" --out shown.json
  cp out first
  try 0 "$SYM" machine shown.json --out again.json
  cmp shown.json again.json || fail "$name does not come back from its JSON"
done

# A network file of ASTRA-sim, and a platform of SimGrid where this build reads XML.
printf 'topology: [ Switch, Ring ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 400, 50 ]\nlatency: [ 900, 2000 ]\n' >net.yml
try 0 "${sim[@]}" --machine net.yml --bytes 1M
printf 'topology: [ Switch ]\nnpus_count: [ 4 ]\nbandwidth: [ -1 ]\nlatency: [ 900 ]\n' >bad.yml
refused "bad.yml:3" "above 0" -- "$SYM" machine bad.yml
cat >two.xml <<'XML'
<platform version="4.1"><zone id="z" routing="Full">
  <host id="a" speed="1f"/><host id="b" speed="1f"/>
  <link id="l" bandwidth="10GBps" latency="1us"/>
  <route src="a" dst="b"><link_ctn id="l"/></route>
</zone></platform>
XML
"$SYM" machine two.xml >out 2>err
case $? in
  0)
    try 0 "${sim[@]}" --machine two.xml --bytes 1M
    sed -i 's/10GBps/0/' two.xml
    refused "two.xml:3" "above 0" -- "$SYM" machine two.xml
    ;;
  3) says "libpugixml-dev" ;;
  *) fail "two.xml" ;;
esac
topo=${SYM_SHARED_DIR:-../shared}/topo
if [ -d "$topo" ] && "$SYM" machine "$topo/nccl-azure-ndv5-8xh100.xml" >out 2>err; then
  says "8 GPUs (1 x 8)"
  says "NICs: 8 per node; nearest to GPU 0, 1, ...: 0 1 2 3 4 5 6 7"
  try 0 "${sim[@]}" --machine "$topo/nccl-azure-ndv5-8xh100.xml*2" --bytes 1M --variant ring
fi

# Nodes without NICs, and a fabric that has its size, cannot be multiplied.
refused "no NICs" -- "$SYM" machine 'h200x2*2'
refused "64 nodes" -- "$SYM" machine 'torus-4x4x4*2'

# What if: more of what limits helps, of what does not changes nothing, and the row says it.
ring=(--bytes 64M --variant ring)
try 0 "${sim[@]}" --machine 'dgx-h100*2' "${ring[@]}" --csv base.csv
try 0 "${sim[@]}" --machine 'dgx-h100*2' "${ring[@]}" --what-if nic=2x --csv nic.csv
try 0 "${sim[@]}" --machine 'dgx-h100*2' "${ring[@]}" --what-if nvlink=2x --csv nvlink.csv
[ "$(csv machine nic.csv)" = 'dgx-h100+nic=2x*2' ] || fail "machine of a changed row: $(csv machine nic.csv)"
within 10 "$(csv time_us base.csv)" "$(awk -v t="$(csv time_us nic.csv)" 'BEGIN { print 2 * t }')" ||
  fail "twice the NICs: $(csv time_us base.csv) and $(csv time_us nic.csv) us"
within 5 "$(csv time_us base.csv)" "$(csv time_us nvlink.csv)" || fail "twice the NVLink changes a ring over NICs"
refused "the nearest name is 'nic'" -- "${sim[@]}" --machine dgx-h100 --bytes 1M --what-if nick=2x
refused "--what-if" "sim" -- "$SYM" run all_reduce --backend check --what-if nic=2x
try 0 "$SYM" machine dgx-h100 --what-if nic=2x
says "what if nic=2x; was assumed: 400 Gb/s NIC"

# Several machines in one run: one file, in order, the same twice.
for i in 1 2; do
  try 0 "${sim[@]}" --machine 'dgx-h100*1:4,dgx-a100*2' --bytes 1M --variant ring --csv sweep$i.csv
done
[ "$(csv machine sweep1.csv | xargs)" = 'dgx-h100 dgx-h100*2 dgx-h100*4 dgx-a100*2' ] || fail "machines of a sweep: $(csv machine sweep1.csv | xargs)"
[ "$(csv pes sweep1.csv | xargs)" = '8 16 32 16' ] || fail "PEs of a sweep"
cmp sweep1.csv sweep2.csv || fail "two sweeps differ"

# Both engines on a fabric with shared links.
if ! "$SYM" doctor | grep -q -- '-- simgrid'; then
  for network in ports simgrid; do
    try 0 "$SYM" run all_reduce --backend sim --no-data --network $network --machine 'dgx-h100-fat-tree*8' --bytes 1M --variant two_shot --csv $network.csv
  done
  within 1 "$(csv time_us ports.csv)" "$(csv time_us simgrid.csv)" || fail "engines differ on a fat tree"
fi
finish
