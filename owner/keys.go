package owner

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"godwit/task"
)

// A key is one rule of the file.
type key struct {
	name string
	hint string // what may be written there
	set  func(*Rules, string) error
	get  func(*Rules) string
	// words says that any text may be written there, which is quoted.
	words bool
	// A key with entries has set called for each, with its name; "" never.
	entries  func(r *Rules, name, value string) error
	list     func(*Rules) [][2]string
	forget   func(*Rules)
	children []string // the names that entries may have; nil for any
}

// keys are the rules in the order of the manual.
var keys = []key{
	boolKey("run_if_user_active", func(r *Rules) *bool { return &r.RunIfUserActive }),
	{name: "idle_time_to_run", hint: "write minutes, such as 3, or a duration such as 90s or 1h",
		set: func(r *Rules, s string) (err error) { r.IdleTimeToRun, err = minutes(s); return err },
		get: func(r *Rules) string { return formatDuration(r.IdleTimeToRun) }},
	boolKey("run_if_full_screen", func(r *Rules) *bool { return &r.RunIfFullScreen }),
	boolKey("run_on_batteries", func(r *Rules) *bool { return &r.RunOnBatteries }),
	percentKey(ruleCharge, func(r *Rules) *float64 { return &r.MinBatteryCharge }),
	percentKey("suspend_cpu_usage", func(r *Rules) *float64 { return &r.SuspendCPUUsage }),
	percentKey("suspend_memory_pressure", func(r *Rules) *float64 { return &r.SuspendMemoryPressure }),
	coresKey("max_cores", func(r *Rules) *Amount { return &r.MaxCores }),
	coresKey("max_cores_busy", func(r *Rules) *Amount { return &r.MaxCoresBusy }),
	memoryKey("max_memory", func(r *Rules) *Amount { return &r.MaxMemory }),
	memoryKey("max_memory_busy", func(r *Rules) *Amount { return &r.MaxMemoryBusy }),
	sizeKey("max_disk", func(r *Rules) *Amount { return &r.MaxDisk }),
	{name: "hours", hint: `write a weekday and its times, such as monday: "18:00-08:00"; or always, or never`,
		children: append(weekdays[:], "daily"),
		entries:  setDay, list: listDays, forget: func(r *Rules) { r.Hours = Hours{} }},
	{name: "grace", hint: "write a duration such as 10m",
		set: func(r *Rules, s string) (err error) { r.Grace, err = minutes(s); return err },
		get: func(r *Rules) string { return formatDuration(r.Grace) }},
	boolKey("use_metered_network", func(r *Rules) *bool { return &r.UseMeteredNetwork }),
	rateKey("max_upload_rate", func(r *Rules) *int64 { return &r.MaxUploadRate }),
	rateKey("max_download_rate", func(r *Rules) *int64 { return &r.MaxDownloadRate }),
	boolKey("no_priority_change", func(r *Rules) *bool { return &r.NoPriorityChange }),
	{name: "sandbox", hint: "write usual, or strict to have tasks interpreted and never compiled",
		set: setSandbox, get: func(r *Rules) string { return yes(r.Strict, "strict", "usual") }},
	{name: "relay_per_day", hint: "write a size such as 1GiB, or 0 for nothing",
		set: func(r *Rules, s string) error {
			n, err := task.ParseSize(s)
			if err == nil {
				r.RelayPerDay = n
			}
			return err
		},
		get: func(r *Rules) string { return exactSize(r.RelayPerDay) }},
	{name: "name", hint: "write a name for this machine that others may see beside what it gave, or nothing for none",
		words: true, set: setName, get: func(r *Rules) string { return r.Name }},
	{name: "overlays", hint: "write an overlay's name and its share, such as commons: 2, or 0 for nothing",
		entries: setShare, list: listShares, forget: func(r *Rules) { r.Overlays = nil }},
}

// Keys returns the names of all rules, in the order of the manual.
func Keys() []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.name)
	}
	return out
}

func findKey(name string) *key {
	if i := slices.IndexFunc(keys, func(k key) bool { return k.name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}

func setSandbox(r *Rules, s string) error {
	if s != "usual" && s != "strict" {
		return fmt.Errorf("%q is neither usual nor strict", s)
	}
	r.Strict = s == "strict"
	return nil
}

// MaxOwnerName bounds the name of a machine, in bytes: it stands in a column.
const MaxOwnerName = 40

func setName(r *Rules, s string) error {
	if len(s) > MaxOwnerName || task.Printable(s, MaxOwnerName) != s {
		return fmt.Errorf("%q has %d bytes, at most %d, or characters that do not print", s, len(s), MaxOwnerName)
	}
	r.Name = s
	return nil
}

func boolKey(name string, field func(*Rules) *bool) key {
	return key{name: name, hint: "write true or false",
		set: func(r *Rules, s string) error {
			b, ok := map[string]bool{"true": true, "false": false}[s]
			if !ok {
				return fmt.Errorf("%q is neither true nor false", s)
			}
			*field(r) = b
			return nil
		},
		get: func(r *Rules) string { return strconv.FormatBool(*field(r)) }}
}

func percentKey(name string, field func(*Rules) *float64) key {
	return key{name: name, hint: "write a percentage such as 25%, or 0 for never",
		set: func(r *Rules, s string) error {
			p, err := percentage(strings.TrimSuffix(s, "%"))
			if err == nil {
				*field(r) = p
			}
			return err
		},
		get: func(r *Rules) string { return formatPercent(*field(r)) }}
}

func percentage(s string) (float64, error) {
	p, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(p) || p < 0 || p > 100 {
		return 0, fmt.Errorf("%q is no percentage from 0 to 100", s)
	}
	return p, nil
}

func formatPercent(p float64) string { return strconv.FormatFloat(p, 'g', -1, 64) + "%" }

// amountKey is a key of an Amount; number reads and writes what is no share.
func amountKey(name, hint string, field func(*Rules) *Amount, number func(string) (int64, error),
	format func(int64) string) key {
	return key{name: name, hint: hint,
		set: func(r *Rules, s string) error {
			if share, ok := strings.CutSuffix(s, "%"); ok {
				p, err := percentage(share)
				if err == nil {
					*field(r) = Percent(p)
				}
				return err
			}
			n, err := number(s)
			if err == nil {
				*field(r) = Absolute(n)
			}
			return err
		},
		get: func(r *Rules) string {
			if a := *field(r); a.absolute < 0 {
				return formatPercent(a.percent)
			}
			return format(field(r).absolute)
		}}
}

func coresKey(name string, field func(*Rules) *Amount) key {
	return amountKey(name, "write a number of cores such as 2, or a share such as 50%", field,
		func(s string) (int64, error) {
			const most = 1 << 16 // cores; more than any machine has
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil || n < 0 || n > most {
				return 0, fmt.Errorf("%q is no number of cores", s)
			}
			return n, nil
		}, formatCores)
}

func formatCores(n int64) string { return strconv.FormatInt(n, 10) }

func sizeKey(name string, field func(*Rules) *Amount) key {
	return amountKey(name, "write a size such as 4GiB, or a share such as 50%", field, task.ParseSize, exactSize)
}

func memoryKey(name string, field func(*Rules) *Amount) key {
	return amountKey(name, "write a size with its unit, such as 4GiB, or a share such as 50%", field,
		func(s string) (int64, error) {
			n, err := task.ParseSize(s)
			if err == nil && n > 0 && n < LeastMemory {
				return 0, fmt.Errorf("%s is too little for any program: the least is %s", task.FormatSize(n),
					task.FormatSize(LeastMemory))
			}
			return n, err
		}, exactSize)
}

func rateKey(name string, field func(*Rules) *int64) key {
	return key{name: name, hint: "write a size for each second, such as 1MiB, or 0 for no limit",
		set: func(r *Rules, s string) error {
			n, err := task.ParseSize(strings.TrimSuffix(s, "/s"))
			if err == nil {
				*field(r) = n
			}
			return err
		},
		get: func(r *Rules) string { return exactSize(*field(r)) }}
}

// exactSize writes a size so that it is read back the same.
func exactSize(n int64) string {
	if s := task.FormatSize(n); n > 0 {
		if back, err := task.ParseSize(s); err == nil && back == n {
			return s
		}
	}
	return strconv.FormatInt(n, 10)
}

// minutes reads a duration; a bare number is minutes, as in BOINC.
func minutes(s string) (time.Duration, error) {
	const most = 1000 * time.Hour
	d, err := time.ParseDuration(s)
	if n, e := strconv.ParseFloat(s, 64); e == nil {
		if math.IsNaN(n) || math.Abs(n) > most.Minutes() {
			return 0, fmt.Errorf("%q is too long", s)
		}
		d, err = time.Duration(n*float64(time.Minute)), nil
	}
	if err != nil || d < 0 || d > most {
		return 0, fmt.Errorf("%q is no duration", s)
	}
	return d, nil
}

// formatDuration writes 3m for 3m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func setDay(r *Rules, name, value string) error {
	d, err := parseDay(value)
	if err != nil {
		return err
	}
	for i, w := range weekdays {
		if name == w || name == "daily" && r.Hours.days[i] == nil {
			r.Hours.days[i] = d
		}
	}
	return nil
}

func listDays(r *Rules) (out [][2]string) {
	for i := range weekdays {
		i := (i + 1) % len(weekdays) // a week begins on Monday
		if d := r.Hours.days[i]; d != nil {
			out = append(out, [2]string{weekdays[i], d.String()})
		}
	}
	return out
}

const (
	maxOverlays = 64
	maxShare    = 1_000_000
)

func setShare(r *Rules, name, value string) error {
	if name == "" {
		return errors.New("an overlay has a name")
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > maxShare {
		return fmt.Errorf("%q is no share: a whole number up to %d", value, maxShare)
	}
	r.Overlays = slices.DeleteFunc(slices.Clone(r.Overlays), func(s Share) bool { return s.Overlay == name })
	if len(r.Overlays) >= maxOverlays {
		return errors.New("too many overlays")
	}
	r.Overlays = append(r.Overlays, Share{name, n})
	slices.SortFunc(r.Overlays, func(a, b Share) int { return cmp.Compare(a.Overlay, b.Overlay) })
	return nil
}

func listShares(r *Rules) (out [][2]string) {
	for _, s := range r.Overlays {
		out = append(out, [2]string{s.Overlay, strconv.Itoa(s.Weight)})
	}
	return out
}

// text returns the text that a scalar is written in; false for what is none.
func text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}
