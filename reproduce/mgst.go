package reproduce

// MGST returns the experiments of M. Kokaly, "McMaster Grid Scheduling Testing
// Environment", M.A.Sc. thesis, McMaster University, 2008, chapter 7: three policies
// on four systems. Each was published twice, as simulated and as measured on a
// testbed of Macs; the simulated figures are judged by the interval that is printed
// with them, those of the testbed by an emulation of it.
func MGST() []Experiment {
	out := []Experiment{{"LP", "The allocation", "sections 3.3 and 7.2, Tables 7.1 to 7.22", allocation}}
	for i := range mgstTables {
		t := &mgstTables[i]
		out = append(out, Experiment{t.name, t.title, t.where, func(b *bench) error { return b.mgst(&mgstRun{mgstTable: t}) }})
	}
	return out
}

// The policies of the thesis, with their specifications here. Who has been idle
// longest is first with each (section 8.1.2).
var mgstPolicies = [...]struct{ name, spec string }{
	{"LPAS_DG", "lpas"}, {"Gc-mu", "gcmu"}, {"FCFS", "fcfs:order=idle"},
}
