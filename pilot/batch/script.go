package batch

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A Spec describes the nodes that placeholders run.
type Spec struct {
	Program string        // path of godwit on the cluster's nodes
	Dir     string        // directory on each node for the data of pool nodes
	Flags   []string      // flags of `godwit up`
	Rules   bool          // write default owner's rules, unless Flags contains --config
	Grace   time.Duration // time for draining
}

// rules lend the whole node, because a placeholder has it for itself.
const rules = `run_if_user_active: true
run_if_full_screen: true
run_on_batteries: true
suspend_cpu_usage: 0
suspend_memory_pressure: 0
max_cores_busy: 100%
max_memory_busy: 50%
`

// goodbye is the part of the grace that the node has for leaving the pool after it was drained: see GoodbyeTime of
// package member.
const goodbye = 2 * time.Second

// placeScript is the batch script of a placeholder. The signal USR1 drains and stops the node. TERM and USR2 kill the
// node immediately, because Slurm and PBS cancel a job with the former and Grid Engine with the latter. The data
// directory remains on the host, because the next placeholder reuses the key and the stored blocks. A drain is durable,
// so the script resumes the node after each start.
const placeScript = `#!/bin/sh
umask 077
program=%s
data=%s/"${SLURMD_NODENAME:-$(hostname)}"
mkdir -p "$data" || exit 1
[ -O %s ] && [ ! -L %s ] && [ -O "$data" ] || exit 1
%sdrain() {
  trap '' USR1
  timeout -k 1 %d "$program" drain --wait --data-dir "$data" </dev/null >/dev/null 2>&1
  kill -TERM "$node" 2>/dev/null
  sleep %d
  kill -KILL "$node" 2>/dev/null
}
node=
trap '[ -n "$node" ] && kill -KILL "$node" 2>/dev/null; exit 143' TERM USR2
trap 'drain & trap "" USR1' USR1
"$program" up --data-dir "$data" --api "" --cores %s %s \
  </dev/null >"$data/log" 2>&1 &
node=$!
tries=60
while [ $tries -gt 0 ] && kill -0 "$node" 2>/dev/null; do
  "$program" resume --data-dir "$data" >/dev/null 2>&1 && break
  tries=$((tries - 1))
  sleep 0.5
done &
while kill -0 "$node" 2>/dev/null; do wait "$node"; done
`

// Numbers of cores of a placeholder, as words of a shell script.
const (
	slurmCores = `"${SLURM_CPUS_ON_NODE:-1}"`
	sgeCores   = `"${NSLOTS:-1}"`
	// Torque sets PBS_NP, and OpenPBS sets NCPUS. Slurm's qsub sets neither.
	pbsCores = `"${PBS_NP:-${NCPUS:-${SLURM_CPUS_ON_NODE:-1}}}"`
)

// SlurmScript returns the batch script of a placeholder.
func SlurmScript(s *Spec) string { return s.script(slurmCores) }

// SGEScript returns the job script of a placeholder.
func SGEScript(s *Spec) string { return s.script(sgeCores) }

// PBSScript returns the job script of a placeholder.
func PBSScript(s *Spec) string { return s.script(pbsCores) }

func (s *Spec) script(cores string) string {
	drain := max(1, int(math.Floor((s.Grace - goodbye).Seconds())))
	leave := max(1, int(math.Ceil(goodbye.Seconds())))
	write := ""
	flags := s.Flags
	if s.Rules {
		write = "printf %s " + quote(rules) + ` >"$data/config.yaml"` + "\n"
	}
	words := make([]string, len(flags))
	for i, f := range flags {
		words[i] = quote(f)
	}
	dir := quote(s.Dir)
	return fmt.Sprintf(placeScript, quote(s.Program), dir, dir, dir, write, drain, leave, cores, strings.Join(words, " "))
}

// quote returns a word of a shell script.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
