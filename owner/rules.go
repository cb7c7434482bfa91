package owner

import (
	"math"
	"time"
)

// Rules are what a machine's owner allows. The names in the file are BOINC's
// where BOINC has the rule.
type Rules struct {
	RunIfUserActive bool          // run_if_user_active: work while somebody uses the machine
	IdleTimeToRun   time.Duration // idle_time_to_run: how long without input counts as nobody there
	RunIfFullScreen bool          // run_if_full_screen: work while a program fills the screen (a film, a talk)
	RunOnBatteries  bool          // run_on_batteries: work without mains

	// MinBatteryCharge is min_battery_charge: work without mains stops when the
	// battery is down to this many percent; 0 never. On mains it means nothing.
	MinBatteryCharge float64

	SuspendCPUUsage       float64 // suspend_cpu_usage: stop above this use of the CPU by others, in percent; 0 never
	SuspendMemoryPressure float64 // suspend_memory_pressure: stop above this share of stalled time, in percent; 0 never

	MaxCores      Amount // max_cores: while nobody is there, of the cores lent
	MaxCoresBusy  Amount // max_cores_busy: while somebody is there
	MaxMemory     Amount // max_memory: of the machine's memory, the same way
	MaxMemoryBusy Amount // max_memory_busy
	MaxDisk       Amount // max_disk: for everything in the data directory, of the disk

	Hours Hours         // hours: when to work
	Grace time.Duration // grace: how long a stopped task waits before it is moved to another machine

	UseMeteredNetwork bool  // use_metered_network: take work over a network paid by volume
	MaxUploadRate     int64 // max_upload_rate: bytes a second; 0 for no limit
	MaxDownloadRate   int64 // max_download_rate

	// NoPriorityChange is no_priority_change: tasks have the node's own priority, and compete with the owner's programs.
	// Otherwise they run only on what every other program leaves.
	NoPriorityChange bool
	// Strict is `sandbox: strict`: tasks are interpreted, and nothing that strangers write becomes machine code.
	Strict bool
	// RelayPerDay is relay_per_day: bytes carried in a day for members that cannot reach each other
	// and that this node does not work with; 0 for none.
	RelayPerDay int64

	Name string // name: of this machine, which others may see beside what it gave; "" for none

	Overlays []Share // overlays: how much each counts; by name or ID. One not named counts as it was joined
}

// relayPerDay is what an owner gives to strangers who says nothing: little enough to go unnoticed on
// any line that is not paid by volume.
const relayPerDay = 1 << 30

// ruleCharge is the name of MinBatteryCharge in the file and in decisions.
const ruleCharge = "min_battery_charge"

// A Share is an overlay's part of the machine: Weight over the sum of weights.
type Share struct {
	Overlay string // its name, or its ID
	Weight  int    // 0: the machine does nothing for it
}

// Default returns the rules of an owner who has written none: fit for a desktop
// whose owner must never notice the work.
//
// IdleTimeToRun, RunOnBatteries and SuspendCPUUsage are BOINC's defaults
// (idle_time_to_run 3 minutes, run_on_batteries 0, suspend_cpu_usage 25 %).
// Half of the memory leaves a desktop its programs and its page cache. Grace is
// HTCondor's MaxSuspendTime, 10 minutes: an owner who only looks at the mail
// costs no transfer. A tenth of the time stalled for memory is felt as
// sluggishness; systemd-oomd begins to kill at 60 %.
//
// MinBatteryCharge is twice what a desktop calls low, at which it begins to warn
// and to save power: 20 % of UPower (PercentageLow) and of Windows. The owner who
// takes the machine up again has as much once more before that. BOINC's
// battery_charge_min_pct is 90 %, on Android only and on mains too: meant for a
// phone that is to be full in the morning, it would leave of run_on_batteries on
// a laptop half an hour.
func Default() Rules {
	return Rules{
		IdleTimeToRun:    3 * time.Minute,
		MinBatteryCharge: 40,
		SuspendCPUUsage:  25, SuspendMemoryPressure: 10,
		MaxCores: Percent(100), MaxCoresBusy: Percent(50),
		MaxMemory: Percent(50), MaxMemoryBusy: Percent(25),
		MaxDisk: Absolute(10 << 30),
		Grace:   10 * time.Minute, RelayPerDay: relayPerDay,
	}
}

// Everything returns the rules of a machine that is nobody's desktop: it lends
// all it has, always. Swarms on one machine and tests use them.
func Everything() Rules {
	all := Percent(100)
	return Rules{
		RunIfUserActive: true, RunIfFullScreen: true, RunOnBatteries: true, UseMeteredNetwork: true,
		MaxCores: all, MaxCoresBusy: all, MaxMemory: all, MaxMemoryBusy: all, MaxDisk: all,
		Grace: Default().Grace, RelayPerDay: relayPerDay,
	}
}

// An Amount is a share of what the machine has, or a number of it.
type Amount struct {
	percent  float64 // used if absolute is negative
	absolute int64
}

// Percent is a share of what the machine has, from 0 to 100.
func Percent(p float64) Amount { return Amount{percent: p, absolute: -1} }

// Absolute is a number: of cores, or of bytes.
func Absolute(n int64) Amount { return Amount{absolute: n} }

// Of returns the amount where the machine has total. It is at most total, and
// a share above 0 of something is at least 1.
func (a Amount) Of(total int64) int64 {
	if a.absolute >= 0 {
		return min(a.absolute, total)
	}
	n := int64(math.Floor(float64(total) * a.percent / 100))
	if n == 0 && a.percent > 0 && total > 0 {
		return 1
	}
	return min(n, total)
}
