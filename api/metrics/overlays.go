package metrics

import "godwit/node"

// each makes a family with a series for each overlay.
func each(name, help string, value func(*node.OverlayMeasures) float64) collected {
	return collected{Family{Name: name, Help: help, Labels: []string{byOverlay}}, func(m *node.Measures, say say) {
		for i := range m.Overlays {
			say(value(&m.Overlays[i]), m.Overlays[i].Overlay)
		}
	}}
}

func ofOverlays() []collected {
	return []collected{
		each("godwit_overlay_members", "Members that are there, this node among them.",
			func(o *node.OverlayMeasures) float64 { return float64(o.Members) }),
		each("godwit_overlay_lost_members", "Members that are believed lost, whose adverts are not over.",
			func(o *node.OverlayMeasures) float64 { return float64(o.Lost) }),
		each("godwit_overlay_led", "1 while this node knows who leads.",
			func(o *node.OverlayMeasures) float64 { return yes(o.Led) }),
		each("godwit_overlay_leads", "1 while this node leads.",
			func(o *node.OverlayMeasures) float64 { return yes(o.Leads) }),
		each("godwit_overlay_coordinates", "1 while this node is a coordinator.",
			func(o *node.OverlayMeasures) float64 { return yes(o.Coordinates) }),
		each("godwit_overlay_term", "The leader's term: it grows by one with each change of leader.",
			func(o *node.OverlayMeasures) float64 { return float64(o.Term) }),
	}
}

func ofScheduler() []collected {
	return []collected{
		each("godwit_scheduler_ledger_jobs", "Jobs in the copy of the ledger here.",
			func(o *node.OverlayMeasures) float64 { return float64(o.Jobs) }),
		each("godwit_scheduler_ledger_rows", "Rows of tasks in that copy.",
			func(o *node.OverlayMeasures) float64 { return float64(o.Rows) }),
		each("godwit_scheduler_open_jobs", "Jobs that are not over, where this node leads.",
			func(o *node.OverlayMeasures) float64 { return float64(o.OpenJobs) }),
		each("godwit_scheduler_waiting_tasks", "Tasks that wait, where this node leads.",
			func(o *node.OverlayMeasures) float64 { return float64(o.WaitingTasks) }),
		each("godwit_scheduler_running_tasks", "Tasks that members have, where this node leads.",
			func(o *node.OverlayMeasures) float64 { return float64(o.RunningTasks) }),
		each("godwit_scheduler_submitted_jobs", "Jobs of this node's owner that are not over.",
			func(o *node.OverlayMeasures) float64 { return float64(o.Submitted) }),
		{Family{Name: "godwit_scheduler_decisions_total", Help: "Decisions of the machines here, by what was decided.",
			Counter: true, Labels: []string{byOverlay, byReason}},
			func(m *node.Measures, say say) {
				for i := range m.Overlays {
					for action, n := range m.Overlays[i].Decided {
						say(float64(n), m.Overlays[i].Overlay, action)
					}
				}
			}},
	}
}
