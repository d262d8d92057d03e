#!/bin/sh
# tests/tools/slurm_batch.sh ULNA FOLDER: `ulna batch --slurm` on a real Slurm, which this script starts on this machine and ends.
#
# 60 takes and 3 hostile ones in 4 shards: one shard is killed, the node is set down and up, the array is submitted again. Then there are 60
# motions, byte for byte those of a single process, the hostile takes are listed, and no take was solved twice. Exit 77 where Slurm cannot be had: the packages slurm-wlm and munge, and root.
set -eu
ulna=$(realpath "$1")
seeds=$(realpath "$(dirname "$0")/../../fuzz/seeds")
folder=$2

skip() { echo "slurm_batch: skipped: $1"; exit 77; }
fail() { echo "slurm_batch: FAILED: $1" >&2; for f in log/*.log; do echo "== $f"; tail -n 8 "$f"; done >&2; cat out/slurm/*.log 2>/dev/null | tail -n 20 >&2; exit 1; }
# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    end=$(($(date +%s) + $1)); shift
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt $end ] || return 1
        sleep 0.2
    done
}

for program in munged slurmctld slurmd sbatch; do
    PATH=$PATH:/usr/sbin command -v $program >/dev/null 2>&1 || skip "there is no $program: run tools/bootstrap test"
done
[ "$(id -u)" = 0 ] || skip "only root can start slurmd"
PATH=$PATH:/usr/sbin
rm -rf "$folder"; mkdir -p "$folder"; cd "$folder"; folder=$PWD
mkdir -p state spool log run takes

# ---- Slurm on one machine, without systemd -------------------------------------------------------------------------
host=$(hostname -s)
stop() {
    for file in run/slurmd.pid run/slurmctld.pid run/munged.pid; do
        [ ! -s $file ] || kill "$(cat $file)" 2>/dev/null || true
    done
}
trap stop EXIT
dd if=/dev/urandom of=run/munge.key bs=1024 count=1 2>/dev/null
chmod 400 run/munge.key
chmod 755 run
munged --force --key-file="$folder/run/munge.key" --socket="$folder/run/munge.socket" --pid-file="$folder/run/munged.pid" \
    --log-file="$folder/log/munged.log" --seed-file="$folder/run/munged.seed" 2>log/munged-start.log || skip "munged does not start: $(tail -n 1 log/munged-start.log)"
port=$((20000 + $$ % 20000))
cat >slurm.conf <<C
ClusterName=ulna
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmctldPort=$port
SlurmdPort=$((port + 1))
JobRequeue=1
SchedulerParameters=sched_interval=2,requeue_delay=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
C
export SLURM_CONF="$folder/slurm.conf"
slurmctld -f "$SLURM_CONF" >log/start.log 2>&1 || skip "slurmctld does not start: $(tail -n 1 log/start.log)"
slurmd -f "$SLURM_CONF" >>log/start.log 2>&1 || skip "slurmd does not start: $(tail -n 1 log/start.log)"
is_idle() { timeout 5 sinfo -h -o %t | grep -qx idle; }
wait_for 40 is_idle || skip "the node does not become idle: $(timeout 5 sinfo -h -o '%t %E' 2>&1 | head -n 1)"

# ---- 60 takes, and three hostile ones: not a recording, one that hangs, one that wants all memory ----------------------------------------------------------------------------------------------------------
"$ulna" sample --quiet sample
for i in $(seq 60); do
    cp sample/walk.c3d takes/walk_$(printf %02d "$i").c3d
done
cp "$seeds/c3d/bad-huge.c3d" takes/walk_refused.c3d
cp sample/walk.c3d takes/walk_that_hangs.c3d
cp sample/walk.c3d takes/walk_with_greed.c3d
faults="hang walk_that_hangs;memory walk_with_greed"
options="-s sample/human.asf -a sample/walk-markers.csv --formats amc --no-reports --memory 400"
ULNA_BATCH_FAULT=$faults "$ulna" batch takes $options -o single --threads 1 --time-limit 3 >single.log || [ $? = 1 ] || fail "the batch in one process"
grep -q '^63 takes: 60 solved, 3 failed$' single.log || fail "the batch in one process: $(tail -n 5 single.log)"

job_of() { sed -n 's/^submitted: job \([0-9]*\),.*/\1/p' "$1"; }
merge_of() { sed -n 's/.* and job \([0-9]*\) for.*/\1/p' "$1"; }
has_ended() { ! timeout 5 squeue -h -j "$1" 2>/dev/null | grep -q .; }
done_now() { cat out/journal/*-of-4.jsonl 2>/dev/null | wc -l; }
some_done() { [ "$(done_now)" -ge "$1" ]; }

# The first take of shard 1 hangs, so that there is something to kill and to requeue.
export ULNA_BATCH_FAULT="$faults;hang $("$ulna" batch takes $options -o out --shard 1/4 --dry-run --json | sed -n 's/.*"take": "\(.*\)",/\1/p' | head -n 1)"
"$ulna" batch takes $options -o out --slurm 4 --submit >submitted || fail "submitting: $(cat submitted)"
job=$(job_of submitted)
wait_for 60 some_done 10 || fail "no take was solved"

# The shard that hangs is killed, which Slurm does not requeue; the node goes down, and what runs there with it.
before=$(done_now)
scancel --signal=KILL --batch "${job}_1" || fail "shard 1 cannot be killed"
scontrol update NodeName="$host" State=DOWN Reason=test
is_quiet() { for process in /proc/[0-9]*; do [ "$(readlink "$process/cwd")" != "$folder" ] || [ "$(readlink "$process/exe")" != "$ulna" ] || return 1; done; }
wait_for 60 is_quiet || fail "shards go on after the node went down"
scontrol update NodeName="$host" State=RESUME 2>/dev/null || true # it may have come back by itself (ReturnToService)
wait_for 40 is_idle || fail "the node does not come back"

# What is left of the first array ends; then the same array again finishes the rest.
export ULNA_BATCH_FAULT="$faults"
scancel "$job" 2>/dev/null || true
scancel "$(merge_of submitted)" 2>/dev/null || true
wait_for 60 has_ended "$job" || fail "the first array does not end"
wait_for 60 is_quiet || fail "shards of the first array go on"
middle=$(done_now)
"$ulna" batch takes $options -o out --time-limit 3 --slurm 4 --submit --slurm-options "-p main --comment='two words'" >submitted ||
    fail "submitting again: $(cat submitted)"
scontrol show job "$(merge_of submitted)" | grep -q 'Comment=two words' || fail "options of sbatch: $(scontrol show job "$(merge_of submitted)" 2>&1)"
wait_for 120 has_ended "$(merge_of submitted)" || fail "the second array does not end: $(squeue 2>&1)"

# ---- 60 motions, none twice ---------------------------------------------------------------------------------------------
[ "$(ls out/*.amc | wc -l)" = 60 ] || fail "$(ls out/*.amc | wc -l) motions, not 60"
for file in single/*.amc; do
    cmp "$file" "out/${file#single/}" || fail "$file differs"
done
lines=$(done_now)
[ "$lines" = 63 ] || fail "$lines takes have ended, not 63: some twice"
[ "$(sed -n '2,$p' out/results.csv | grep -c ',done,')" = 60 ] || fail "the table does not list 60 takes"
# failed_with TAKE WORDS: it is listed so, with Slurm and without.
failed_with() {
    for table in out/results.csv single/results.csv; do
        grep -q "^$1,[^,]*,failed,.*$2" $table || fail "$table does not say of $1: $2"
    done
}
failed_with walk_refused "walk_refused.c3d"
failed_with walk_that_hangs "stopped after 3 s"
failed_with walk_with_greed "lack of memory"
[ -s out/index.html ] || fail "there is no overview"
echo "slurm_batch: ok: $before takes when a shard was killed and the node went down, $middle after that, $lines at the end, none twice"
