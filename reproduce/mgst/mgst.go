// Package mgst has the experiments of Kokaly 2008: three policies that divide classes of
// tasks among machines of unlike speeds, simulated and as on a testbed.
// docs/spec/mgst.md is what the thesis specifies.
package mgst

import "godwit/reproduce"

// Experiments returns the experiments of M. Kokaly, "McMaster Grid Scheduling Testing
// Environment", M.A.Sc. thesis, McMaster University, 2008, chapter 7: three policies
// on four systems. Each was published twice, as simulated and as measured on a
// testbed of Macs; the simulated figures are judged by the interval that is printed
// with them, those of the testbed by an emulation of it.
func Experiments() []reproduce.Experiment {
	out := []reproduce.Experiment{experiment("LP", "The allocation", "sections 4.4.6 and 7.2, Tables 7.1 to 7.22",
		allocation)}
	for i := range tables {
		t := &tables[i]
		out = append(out, experiment(t.name, t.title, t.where, func(b *bench) error { return b.rerun(&rerun{table: t}) }))
	}
	return out
}

// The policies of the thesis, with their specifications here. Who has been idle
// longest is first with each (section 8.1.2).
var policies = [...]struct{ name, spec string }{
	{"LPAS_DG", "lpas"}, {"Gc-mu", "gcmu"}, {"FCFS", "fcfs:order=idle"},
}

// bench is what an experiment works on, with the judgements of this publication.
type bench struct{ *reproduce.Bench }

func experiment(name, title, where string, do func(*bench) error) reproduce.Experiment {
	run := func(b *reproduce.Bench) error { return do(&bench{b}) }
	return reproduce.Experiment{Name: name, Title: title, Where: where, Do: run}
}
