package owner

import (
	"fmt"
	"strings"

	"godwit/task"
)

// The kinds of values that rules have, for who shows a control for one.
const (
	KindBool     = "bool"
	KindDuration = "duration"
	KindShare    = "share"  // a percentage
	KindAmount   = "amount" // a number or a percentage
	KindSize     = "size"
	KindHours    = "hours"
	KindChoice   = "choice"
	KindText     = "text"   // any words
	KindShares   = "shares" // of overlays
)

// An Explained rule is a rule with what it comes to, for people.
type Explained struct {
	Key     string   `json:"key"`
	Value   string   `json:"value"`   // in force
	Default string   `json:"default"` // of an owner who writes none
	Set     bool     `json:"set"`     // it is written in the file
	Effect  string   `json:"effect"`  // what the value comes to, a sentence
	Kind    string   `json:"kind"`    // one of the kinds
	Hint    string   `json:"hint"`    // what may be written
	Choices []string `json:"choices,omitempty"`
}

// Explain says of each rule what it comes to, in the order of the manual. src is the file that the rules are of.
func Explain(r *Rules, src []byte) []Explained {
	written := map[string]bool{}
	if pairs, err := topPairs("", src); err == nil {
		for _, p := range pairs {
			written[p.Key] = true
		}
	}
	usual := Default()
	out := make([]Explained, 0, len(keys))
	for i := range keys {
		k := &keys[i]
		e := Explained{Key: k.name, Set: written[k.name], Hint: k.hint, Kind: kinds[k.name], Effect: effects[k.name](r)}
		e.Value, _ = r.Get(k.name)
		e.Default, _ = usual.Get(k.name)
		if k.name == "sandbox" {
			e.Choices = []string{"usual", "strict"}
		}
		out = append(out, e)
	}
	return out
}

// kinds are the kinds of the rules' values.
var kinds = map[string]string{
	"run_if_user_active": KindBool, "idle_time_to_run": KindDuration, "run_if_full_screen": KindBool,
	"run_on_batteries": KindBool, ruleCharge: KindShare, "suspend_cpu_usage": KindShare,
	"suspend_memory_pressure": KindShare, "max_cores": KindAmount, "max_cores_busy": KindAmount,
	"max_memory": KindAmount, "max_memory_busy": KindAmount, "max_disk": KindAmount, "hours": KindHours,
	"grace": KindDuration, "use_metered_network": KindBool, "max_upload_rate": KindSize, "max_download_rate": KindSize,
	"no_priority_change": KindBool, "sandbox": KindChoice, "relay_per_day": KindSize, "name": KindText, "overlays": KindShares,
}

// effects say what the rules come to.
var effects = map[string]func(*Rules) string{
	"run_if_user_active": func(r *Rules) string {
		return yes(r.RunIfUserActive, "Tasks run while somebody uses this machine.",
			"All tasks stop at once when somebody uses this machine.")
	},
	"idle_time_to_run": func(r *Rules) string {
		if r.RunIfUserActive {
			return fmt.Sprintf("After %s without input this machine counts as unused: it lends what it lends then.",
				formatDuration(r.IdleTimeToRun))
		}
		return fmt.Sprintf("Tasks go on after %s without input.", formatDuration(r.IdleTimeToRun))
	},
	"run_if_full_screen": func(r *Rules) string {
		return yes(r.RunIfFullScreen, "Tasks run while a program fills the screen.",
			"Tasks stop while a program fills the screen, such as a film or a talk.")
	},
	"run_on_batteries": func(r *Rules) string {
		return yes(r.RunOnBatteries, "Tasks run on batteries too.", "Tasks stop while this machine runs on batteries.")
	},
	ruleCharge: func(r *Rules) string {
		if r.MinBatteryCharge <= 0 || !r.RunOnBatteries {
			return "The charge of the battery stops nothing."
		}
		return fmt.Sprintf("On batteries tasks stop at a charge of %s.", formatPercent(r.MinBatteryCharge))
	},
	"suspend_cpu_usage": func(r *Rules) string {
		if r.SuspendCPUUsage <= 0 {
			return "Tasks run however much other programs use the processors."
		}
		return fmt.Sprintf("Tasks stop while other programs use more than %s of the processors.",
			formatPercent(r.SuspendCPUUsage))
	},
	"suspend_memory_pressure": func(r *Rules) string {
		if r.SuspendMemoryPressure <= 0 {
			return "Tasks run however short memory is."
		}
		return fmt.Sprintf("Tasks stop while programs wait for memory more than %s of the time.",
			formatPercent(r.SuspendMemoryPressure))
	},
	"max_cores":      func(r *Rules) string { return amountEffect("cores", &r.MaxCores, formatCores, "nobody uses") },
	"max_cores_busy": func(r *Rules) string { return busyEffect(r, "cores", &r.MaxCoresBusy, formatCores) },
	"max_memory": func(r *Rules) string {
		return amountEffect("memory", &r.MaxMemory, task.FormatSize, "nobody uses")
	},
	"max_memory_busy": func(r *Rules) string { return busyEffect(r, "memory", &r.MaxMemoryBusy, task.FormatSize) },
	"max_disk": func(r *Rules) string {
		return fmt.Sprintf("The node keeps at most %s on the disk.", r.MaxDisk.text("of it", task.FormatSize))
	},
	"hours": func(r *Rules) string {
		if r.Hours.Always() {
			return "Tasks may run at every hour of the week."
		}
		v, _ := r.Get("hours")
		return "Tasks run in these hours alone: " + strings.Trim(strings.ReplaceAll(v, `"`, ""), "{}") +
			". A day that is not named has no such bound."
	},
	"grace": func(r *Rules) string {
		return fmt.Sprintf("Tasks that stand still for %s move to other machines.", formatDuration(r.Grace))
	},
	"use_metered_network": func(r *Rules) string {
		return yes(r.UseMeteredNetwork, "Work is taken over a network that is paid by volume, too.",
			"Nothing new is taken over a network that is paid by volume.")
	},
	"max_upload_rate":   func(r *Rules) string { return rateEffect("sends", r.MaxUploadRate) },
	"max_download_rate": func(r *Rules) string { return rateEffect("receives", r.MaxDownloadRate) },
	"no_priority_change": func(r *Rules) string {
		return yes(r.NoPriorityChange, "Tasks compete with your programs for the processor.",
			"Tasks run only on what your programs leave of the processor.")
	},
	"sandbox": func(r *Rules) string {
		return yes(r.Strict, "Tasks are interpreted: slower, and nothing that strangers write becomes machine code.",
			"Tasks are compiled, and kept in by two walls.")
	},
	"relay_per_day": func(r *Rules) string {
		if r.RelayPerDay <= 0 {
			return "The node carries nothing for members with whom it does not work."
		}
		return fmt.Sprintf("The node carries at most %s a day for members that cannot reach each other.",
			task.FormatSize(r.RelayPerDay))
	},
	"name": func(r *Rules) string {
		if r.Name == "" {
			return "Others see no name of this machine beside what it gave."
		}
		return fmt.Sprintf("Others see this machine as %q beside what it gave.", r.Name)
	},
	"overlays": func(r *Rules) string {
		if len(r.Overlays) == 0 {
			return "Each overlay has the share with which it was joined."
		}
		var parts []string
		for _, s := range r.Overlays {
			parts = append(parts, fmt.Sprintf("%s counts %d", task.Printable(s.Overlay, task.MaxName), s.Weight))
		}
		return "Of this machine " + strings.Join(parts, ", ") + "."
	},
}

// text writes an amount as people say it.
func (a *Amount) text(of string, format func(int64) string) string {
	if a.absolute < 0 {
		return formatPercent(a.percent) + " " + of
	}
	return format(a.absolute)
}

func amountEffect(what string, a *Amount, format func(int64) string, who string) string {
	if a.absolute == 0 || a.absolute < 0 && a.percent <= 0 {
		return fmt.Sprintf("No %s for tasks while %s this machine.", what, who)
	}
	if a.absolute < 0 {
		return fmt.Sprintf("Tasks have at most %s of the %s while %s this machine.", formatPercent(a.percent), what, who)
	}
	return fmt.Sprintf("Tasks have at most %s of %s while %s this machine.", format(a.absolute), what, who)
}

// busyEffect is of a rule that counts while somebody is there.
func busyEffect(r *Rules, what string, a *Amount, format func(int64) string) string {
	if !r.RunIfUserActive {
		return "It stops nothing now: while somebody uses this machine no task runs at all (run_if_user_active)."
	}
	return amountEffect(what, a, format, "somebody uses")
}

func rateEffect(does string, rate int64) string {
	if rate <= 0 {
		return fmt.Sprintf("The node %s as fast as the network lets it.", does)
	}
	return fmt.Sprintf("The node %s at most %s a second.", does, task.FormatSize(rate))
}
