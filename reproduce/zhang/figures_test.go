package zhang

import (
	"testing"

	"godwit/reproduce"
)

// A figure is a cell of a synthetic experiment: what the thesis prints, and what its own
// definitions give, where that is another.
type figure struct{ cell, published, defined string }

// synthetic are all figures of the experiments without traces, Tables B-1 to B-5, 7-7 and
// 7-8, Fig. B.20 and the worked examples.
var synthetic = map[string][]figure{
	"B.I-1": {
		{"scenario 1, FCFS, day 1, A/S/F", "1/1/0", ""},
		{"scenario 1, FCFS, day 1, success", "100 %", ""},
		{"scenario 1, FCFS, day 2, A/S/F", "1/1/0", ""},
		{"scenario 1, FCFS, day 2, success", "100 %", ""},
		{"scenario 1, FCFS, day 2, utilisation", "100 %", ""},
		{"scenario 1, FCFSPP, day 1, A/S/F", "1/1/0", ""},
		{"scenario 1, FCFSPP, day 1, success", "100 %", ""},
		{"scenario 1, FCFSPP, day 2, A/S/F", "1/1/0", ""},
		{"scenario 1, FCFSPP, day 2, success", "100 %", ""},
		{"scenario 1, FCFSPP, day 2, utilisation", "100 %", ""},
		{"scenario 2, FCFS, day 1, A/S/F", "1/1/0", ""},
		{"scenario 2, FCFS, day 1, success", "100 %", ""},
		{"scenario 2, FCFS, day 2, A/S/F", "1/0/1", ""},
		{"scenario 2, FCFS, day 2, success", "0 %", ""},
		{"scenario 2, FCFS, day 2, utilisation", "100 %", ""},
		{"scenario 2, FCFSPP, day 1, A/S/F", "1/1/0", ""},
		{"scenario 2, FCFSPP, day 1, success", "100 %", ""},
		{"scenario 2, FCFSPP, day 2, A/S/F", "1/0/1", ""},
		{"scenario 2, FCFSPP, day 2, success", "0 %", ""},
		{"scenario 2, FCFSPP, day 2, utilisation", "0 %", "100 %"},
		{"scenario 3, FCFS, day 1, A/S/F", "1/0/1", ""},
		{"scenario 3, FCFS, day 1, success", "0 %", ""},
		{"scenario 3, FCFS, day 2, A/S/F", "1/0/1", ""},
		{"scenario 3, FCFS, day 2, success", "0 %", ""},
		{"scenario 3, FCFS, day 2, utilisation", "100 %", ""},
		{"scenario 3, FCFSPP, day 1, A/S/F", "1/0/1", ""},
		{"scenario 3, FCFSPP, day 1, success", "0 %", ""},
		{"scenario 3, FCFSPP, day 2, A/S/F", "0/0/0", ""},
		{"scenario 3, FCFSPP, day 2, success", "N/A", ""},
		{"scenario 3, FCFSPP, day 2, utilisation", "0 %", ""},
		{"scenario 4, FCFS, day 1, A/S/F", "1/0/1", ""},
		{"scenario 4, FCFS, day 1, success", "0 %", ""},
		{"scenario 4, FCFS, day 2, A/S/F", "1/1/0", ""},
		{"scenario 4, FCFS, day 2, success", "100 %", ""},
		{"scenario 4, FCFS, day 2, utilisation", "100 %", ""},
		{"scenario 4, FCFSPP, day 1, A/S/F", "1/0/1", ""},
		{"scenario 4, FCFSPP, day 1, success", "0 %", ""},
		{"scenario 4, FCFSPP, day 2, A/S/F", "0/0/0", ""},
		{"scenario 4, FCFSPP, day 2, success", "N/A", ""},
		{"scenario 4, FCFSPP, day 2, utilisation", "0 %", ""},
		{"scenario 5, FCFS, day 1, A/S/F", "1/0/1", ""},
		{"scenario 5, FCFS, day 1, success", "0 %", ""},
		{"scenario 5, FCFS, day 2, A/S/F", "1/0/1", ""},
		{"scenario 5, FCFS, day 2, success", "0 %", ""},
		{"scenario 5, FCFS, day 2, utilisation", "100 %", ""},
		{"scenario 5, FCFSPP, day 1, A/S/F", "1/0/1", ""},
		{"scenario 5, FCFSPP, day 1, success", "0 %", ""},
		{"scenario 5, FCFSPP, day 2, A/S/F", "0/0/0", ""},
		{"scenario 5, FCFSPP, day 2, success", "N/A", ""},
		{"scenario 5, FCFSPP, day 2, utilisation", "0 %", ""},
	},
	"B.I-2": {
		{"scenario 1 (dt = -9 h), rho", "0.378", ""},
		{"scenario 2 (dt = -6 h), rho", "0.577", ""},
		{"scenario 3 (dt = -3 h), rho", "0.775", ""},
		{"scenario 4 (dt = 0 h), rho", "1.000", ""},
		{"scenario 5 (dt = 3 h), rho", "0.775", ""},
		{"scenario 6 (dt = 6 h), rho", "0.577", ""},
		{"scenario 7 (dt = 9 h), rho", "0.378", ""},
		{"scenario 1 (dt = -9 h), FCFS, A/S/F", "3/2/1", ""},
		{"scenario 1 (dt = -9 h), FCFS, success", "66.7 %", ""},
		{"scenario 1 (dt = -9 h), FCFSPP, A/S/F", "0/0/0", ""},
		{"scenario 1 (dt = -9 h), FCFSPP, success", "N/A", ""},
		{"scenario 1 (dt = -9 h), FCFSPP read as prefix, A/S/F", "0/0/0", ""},
		{"scenario 1 (dt = -9 h), FCFSPP read as fraction, A/S/F", "0/0/0", ""},
		{"scenario 2 (dt = -6 h), FCFS, A/S/F", "3/2/1", ""},
		{"scenario 2 (dt = -6 h), FCFS, success", "66.7 %", ""},
		{"scenario 2 (dt = -6 h), FCFSPP, A/S/F", "1/1/0", ""},
		{"scenario 2 (dt = -6 h), FCFSPP, success", "100 %", ""},
		{"scenario 2 (dt = -6 h), FCFSPP read as prefix, A/S/F", "1/1/0", ""},
		{"scenario 2 (dt = -6 h), FCFSPP read as fraction, A/S/F", "1/1/0", ""},
		{"scenario 3 (dt = -3 h), FCFS, A/S/F", "3/2/1", ""},
		{"scenario 3 (dt = -3 h), FCFS, success", "66.7 %", ""},
		{"scenario 3 (dt = -3 h), FCFSPP, A/S/F", "1/1/0", ""},
		{"scenario 3 (dt = -3 h), FCFSPP, success", "100 %", ""},
		{"scenario 3 (dt = -3 h), FCFSPP read as prefix, A/S/F", "1/1/0", ""},
		{"scenario 3 (dt = -3 h), FCFSPP read as fraction, A/S/F", "1/1/0", ""},
		{"scenario 4 (dt = 0 h), FCFS, A/S/F", "3/2/1", ""},
		{"scenario 4 (dt = 0 h), FCFS, success", "66.7 %", ""},
		{"scenario 4 (dt = 0 h), FCFSPP, A/S/F", "2/2/0", ""},
		{"scenario 4 (dt = 0 h), FCFSPP, success", "100 %", ""},
		{"scenario 4 (dt = 0 h), FCFSPP read as prefix, A/S/F", "2/2/0", ""},
		{"scenario 4 (dt = 0 h), FCFSPP read as fraction, A/S/F", "2/2/0", ""},
		{"scenario 5 (dt = 3 h), FCFS, A/S/F", "3/2/1", ""},
		{"scenario 5 (dt = 3 h), FCFS, success", "66.7 %", ""},
		{"scenario 5 (dt = 3 h), FCFSPP, A/S/F", "2/2/0", ""},
		{"scenario 5 (dt = 3 h), FCFSPP, success", "100 %", ""},
		{"scenario 5 (dt = 3 h), FCFSPP read as prefix, A/S/F", "2/2/0", ""},
		{"scenario 5 (dt = 3 h), FCFSPP read as fraction, A/S/F", "2/2/0", ""},
		{"scenario 6 (dt = 6 h), FCFS, A/S/F", "3/2/1", ""},
		{"scenario 6 (dt = 6 h), FCFS, success", "66.7 %", ""},
		{"scenario 6 (dt = 6 h), FCFSPP, A/S/F", "3/2/1", ""},
		{"scenario 6 (dt = 6 h), FCFSPP, success", "66.7 %", ""},
		{"scenario 6 (dt = 6 h), FCFSPP read as prefix, A/S/F", "3/2/1", ""},
		{"scenario 6 (dt = 6 h), FCFSPP read as fraction, A/S/F", "3/2/1", ""},
		{"scenario 7 (dt = 9 h), FCFS, A/S/F", "3/2/1", ""},
		{"scenario 7 (dt = 9 h), FCFS, success", "66.7 %", ""},
		{"scenario 7 (dt = 9 h), FCFSPP, A/S/F", "3/2/1", ""},
		{"scenario 7 (dt = 9 h), FCFSPP, success", "66.7 %", ""},
		{"scenario 7 (dt = 9 h), FCFSPP read as prefix, A/S/F", "3/2/1", ""},
		{"scenario 7 (dt = 9 h), FCFSPP read as fraction, A/S/F", "3/2/1", ""},
	},
	"B.II": {
		{"scenario 1, FCFS, A/S/F", "2/1/1", ""},
		{"scenario 1, FCFS, success", "50 %", ""},
		{"scenario 1, FCFSPP, A/S/F", "1/1/0", ""},
		{"scenario 1, FCFSPP, success", "100 %", ""},
		{"scenario 1, FLP, A/S/F", "1/1/0", ""},
		{"scenario 1, FLP, success", "100 %", ""},
		{"scenario 1, RAP at 36 h", "75 %", "66.7 %"},
		{"scenario 1, FLP, job at 36 h", "refused", ""},
		{"scenario 1, control FLP, days read by Eq 4.1, A/S/F", "1/1/0", ""},
		{"scenario 1, control FLP, days read as Fraction, not cut at midnight, A/S/F", "2/1/1", ""},
		{"scenario 1, control FLP, T adjusted from t = 0, A/S/F", "2/1/1", ""},
		{"scenario 1, control FLP, T adjusted from t = 0, T at 36 h", "66 %", ""},
		{"scenario 2, FCFS, A/S/F", "2/2/0", ""},
		{"scenario 2, FCFS, success", "100 %", ""},
		{"scenario 2, FCFSPP, A/S/F", "1/1/0", ""},
		{"scenario 2, FCFSPP, success", "100 %", ""},
		{"scenario 2, FLP, A/S/F", "1/1/0", ""},
		{"scenario 2, FLP, success", "100 %", ""},
		{"scenario 2, RAP at 36 h", "75 %", "66.7 %"},
		{"scenario 2, FLP, job at 36 h", "refused", ""},
		{"scenario 2, control FLP, days read by Eq 4.1, A/S/F", "1/1/0", ""},
		{"scenario 2, control FLP, days read as Fraction, not cut at midnight, A/S/F", "2/1/0", ""},
		{"scenario 2, control FLP, T adjusted from t = 0, A/S/F", "2/2/0", ""},
		{"scenario 2, control FLP, T adjusted from t = 0, T at 36 h", "66 %", ""},
		{"scenario 3, FCFS, A/S/F", "2/1/1", ""},
		{"scenario 3, FCFS, success", "50 %", ""},
		{"scenario 3, FCFSPP, A/S/F", "1/1/0", ""},
		{"scenario 3, FCFSPP, success", "100 %", ""},
		{"scenario 3, FLP, A/S/F", "2/1/1", ""},
		{"scenario 3, FLP, success", "50 %", ""},
		{"scenario 3, RAP at 36 h", "91.7 %", ""},
		{"scenario 3, FLP, T at 36 h", "88 %", ""},
		{"scenario 3, control FLP, days read by Eq 4.1, A/S/F", "1/1/0", ""},
		{"scenario 3, control FLP, days read as Fraction, not cut at midnight, A/S/F", "2/1/1", ""},
		{"scenario 3, control FLP, T adjusted from t = 0, A/S/F", "2/1/1", ""},
		{"scenario 3, control FLP, T adjusted from t = 0, T at 36 h", "66 %", ""},
		{"scenario 4, FCFS, A/S/F", "2/2/0", ""},
		{"scenario 4, FCFS, success", "100 %", ""},
		{"scenario 4, FCFSPP, A/S/F", "1/1/0", ""},
		{"scenario 4, FCFSPP, success", "100 %", ""},
		{"scenario 4, FLP, A/S/F", "2/2/0", ""},
		{"scenario 4, FLP, success", "100 %", ""},
		{"scenario 4, RAP at 36 h", "100 %", "91.7 %"},
		{"scenario 4, FLP, T at 36 h", "88 %", ""},
		{"scenario 4, control FLP, days read by Eq 4.1, A/S/F", "1/1/0", ""},
		{"scenario 4, control FLP, days read as Fraction, not cut at midnight, A/S/F", "2/2/0", ""},
		{"scenario 4, control FLP, T adjusted from t = 0, A/S/F", "2/2/0", ""},
		{"scenario 4, control FLP, T adjusted from t = 0, T at 36 h", "66 %", ""},
		{"scenario 1, FLP has the highest success", "yes", ""},
		{"scenario 2, FLP has the highest success", "no", "yes"},
		{"scenario 3, FLP has the highest success", "yes", "no"},
		{"scenario 4, FLP has the highest success", "yes", ""},
	},
	"B.III": {
		{"scenario 1, CP1/CP2/MD/FA", "0/1/0/0", ""},
		{"scenario 1, control with the days swapped, CP1/CP2/MD/FA", "0/1/0/0", ""},
		{"scenario 2, CP1/CP2/MD/FA", "0/0/1/0", "0/0/0/1"},
		{"scenario 2, control with the days swapped, CP1/CP2/MD/FA", "0/0/1/0", ""},
		{"scenario 3, CP1/CP2/MD/FA", "1/0/0/0", ""},
		{"scenario 3, control with the days swapped, CP1/CP2/MD/FA", "1/0/0/0", ""},
		{"scenario 4, CP1/CP2/MD/FA", "0/0/0/1", "0/0/1/0"},
		{"scenario 4, control with the days swapped, CP1/CP2/MD/FA", "0/0/0/1", ""},
		{"scenario 5, CP1/CP2/MD/FA", "1/0/0/0", ""},
		{"scenario 5, control with the days swapped, CP1/CP2/MD/FA", "1/0/0/0", ""},
	},
	"B.IV": {
		{"scenario 1, CP1/CP2/MD/FA", "0/2/0/0", ""},
		{"scenario 2, CP1/CP2/MD/FA", "0/0/1/0", ""},
		{"scenario 3, CP1/CP2/MD/FA", "1/0/0/0", ""},
		{"scenario 4, CP1/CP2/MD/FA", "0/1/0/1", ""},
		{"scenario 5, CP1/CP2/MD/FA", "1/0/0/0", "0/0/1/0"},
		{"scenario 5, control with scans each 30 min, CP1/CP2/MD/FA", "1/1/0/0", ""},
	},
	"worked": {
		{"section 4.3.2: 700 of 1000 cycles", "70 %", ""},
		{"section 4.2.4: disposed 12, then 7", "-0.5 points", ""},
		{"section 4.2.4: truth of Negative 0.5, T = 90 %", "89.5 %", ""},
		{"section 6.1: day interval of day 2 and day 5", "3", ""},
		{"section 6.1: day interval of day 1 and day 3", "2", ""},
		{"Eq 4.1: window 180, job 60: always available", "1.000", ""},
		{"Eq 4.1: window 180, job 60: exit at 90", "0.500", ""},
		{"Eq 4.1: window 180, job 60: gap at 70-80", "0.667", ""},
		{"Eq 4.1: window 180, job 60: gaps at 20-30 and 120-130", "0.333", ""},
		{"Eq 4.1: window 60, job 60: exit at 30", "0.000", ""},
		{"Eq 4.1: window 60, job 60: available from 30 only", "0.000", ""},
		{"Eq 4.1: window 60, job 60: never available", "0.000", ""},
		{"section 7.3: RAP read as Prefix, 0s into day 2", "50 %", ""},
		{"section 7.3: RAP read as Prefix, 10m0s into day 2", "33.3 %", ""},
		{"section 7.3: RAP read as Fraction, 0s into day 2", "50 %", ""},
		{"section 7.3: RAP read as Fraction, 10m0s into day 2", "33.3 %", ""},
		{"section 7.3: control, RAP by Eq 4.1, 0s into day 2", "0 %", ""},
		{"section 7.3: control, RAP by Eq 4.1, 10m0s into day 2", "0 %", ""},
		{"section 4.2.5: RAP 0.7, 1.5 GHz, third job there", "1.2", ""},
		{"section 4.2.3: RAP 80 %, T 70 %", "qualified", ""},
		{"section 4.2.3: control, RAP 80 %, T 90 %", "not qualified", ""},
		{"section 7.3: FCFS at 0 min, A/S/F", "1/1/0", ""},
		{"section 7.3: FCFSPP, T = 100 %, A/S/F", "0/0/0", ""},
		{"section 7.3: FLP at 0 min, T = 60 %, A/S/F", "0/0/0", ""},
		{"section 7.3: FLP at 10 min, T = 30 %, A/S/F", "1/0/1", ""},
	},
	"E6": {
		{"scenario 1 (a job each 16 h), FCFS, A/S/F", "1/1/0", ""},
		{"scenario 1 (a job each 16 h), FCFS, job process percentage", "100 %", ""},
		{"scenario 1 (a job each 16 h), FCFS, makespan", "12 h", ""},
		{"scenario 1 (a job each 16 h), FCFSPP, A/S/F", "1/1/0", ""},
		{"scenario 1 (a job each 16 h), FCFSPP, job process percentage", "100 %", ""},
		{"scenario 1 (a job each 16 h), FCFSPP, makespan", "12 h", ""},
		{"scenario 1 (a job each 16 h), FLP, A/S/F", "1/1/0", ""},
		{"scenario 1 (a job each 16 h), FLP, job process percentage", "100 %", ""},
		{"scenario 1 (a job each 16 h), FLP, makespan", "12 h", ""},
		{"scenario 1 (a job each 16 h), PSOPP, A/S/F", "1/1/0", ""},
		{"scenario 1 (a job each 16 h), PSOPP, job process percentage", "100 %", ""},
		{"scenario 1 (a job each 16 h), PSOPP, makespan", "12 h", ""},
		{"scenario 2 (a job each 12 h), FCFS, A/S/F", "2/2/0", ""},
		{"scenario 2 (a job each 12 h), FCFS, job process percentage", "100 %", ""},
		{"scenario 2 (a job each 12 h), FCFS, makespan", "12 h", ""},
		{"scenario 2 (a job each 12 h), FCFSPP, A/S/F", "2/2/0", ""},
		{"scenario 2 (a job each 12 h), FCFSPP, job process percentage", "100 %", ""},
		{"scenario 2 (a job each 12 h), FCFSPP, makespan", "12 h", ""},
		{"scenario 2 (a job each 12 h), FLP, A/S/F", "2/2/0", ""},
		{"scenario 2 (a job each 12 h), FLP, job process percentage", "100 %", ""},
		{"scenario 2 (a job each 12 h), FLP, makespan", "12 h", ""},
		{"scenario 2 (a job each 12 h), PSOPP, A/S/F", "2/2/0", ""},
		{"scenario 2 (a job each 12 h), PSOPP, job process percentage", "100 %", ""},
		{"scenario 2 (a job each 12 h), PSOPP, makespan", "12 h", ""},
		{"scenario 3 (a job each 8 h), FCFS, A/S/F", "2/2/0", ""},
		{"scenario 3 (a job each 8 h), FCFS, job process percentage", "100 %", ""},
		{"scenario 3 (a job each 8 h), FCFS, makespan", "12 h", ""},
		{"scenario 3 (a job each 8 h), FCFSPP, A/S/F", "2/2/0", ""},
		{"scenario 3 (a job each 8 h), FCFSPP, job process percentage", "100 %", ""},
		{"scenario 3 (a job each 8 h), FCFSPP, makespan", "12 h", ""},
		{"scenario 3 (a job each 8 h), FLP, A/S/F", "2/2/0", ""},
		{"scenario 3 (a job each 8 h), FLP, job process percentage", "100 %", ""},
		{"scenario 3 (a job each 8 h), FLP, makespan", "12 h", ""},
		{"scenario 3 (a job each 8 h), PSOPP, A/S/F", "3/1/0", ""},
		{"scenario 3 (a job each 8 h), PSOPP, job process percentage", "33.3 %", ""},
		{"scenario 3 (a job each 8 h), PSOPP, makespan", "16 h", ""},
		{"scenario 1, control with arrivals counted from 24 h, FCFS, A/S/F", "2/1/0", ""},
	},
	"E7": {
		{"scenario 1 (2 and 1 GHz throughout), FCFS, A/S/F", "2/1/0", ""},
		{"scenario 1 (2 and 1 GHz throughout), FCFS, job process percentage", "50 %", ""},
		{"scenario 1 (2 and 1 GHz throughout), FCFS, jobs go to", "r1 r2", ""},
		{"scenario 1 (2 and 1 GHz throughout), FCFSPP, A/S/F", "2/1/0", ""},
		{"scenario 1 (2 and 1 GHz throughout), FCFSPP, job process percentage", "50 %", ""},
		{"scenario 1 (2 and 1 GHz throughout), FCFSPP, jobs go to", "r1 r2", ""},
		{"scenario 1 (2 and 1 GHz throughout), FLP, A/S/F", "2/1/0", ""},
		{"scenario 1 (2 and 1 GHz throughout), FLP, job process percentage", "50 %", ""},
		{"scenario 1 (2 and 1 GHz throughout), FLP, jobs go to", "r1 r2", ""},
		{"scenario 1 (2 and 1 GHz throughout), PSOPP, A/S/F", "2/2/0", ""},
		{"scenario 1 (2 and 1 GHz throughout), PSOPP, job process percentage", "100 %", ""},
		{"scenario 1 (2 and 1 GHz throughout), PSOPP, jobs go to", "r1 r1", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), FCFS, A/S/F", "2/2/0", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), FCFS, job process percentage", "100 %", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), FCFS, jobs go to", "r1 r2", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), FCFSPP, A/S/F", "2/2/0", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), FCFSPP, job process percentage", "100 %", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), FCFSPP, jobs go to", "r1 r2", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), FLP, A/S/F", "2/2/0", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), FLP, job process percentage", "100 %", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), FLP, jobs go to", "r1 r2", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), PSOPP, A/S/F", "2/1/0", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), PSOPP, job process percentage", "50 %", ""},
		{"scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), PSOPP, jobs go to", "r1 r1", ""},
	},
}

// TestSyntheticFigures: every figure of the synthetic experiments comes out, digit by digit.
func TestSyntheticFigures(t *testing.T) {
	for _, e := range Experiments() {
		figures, ok := synthetic[e.Name]
		if !ok {
			continue
		}
		r, err := e.Run(reproduce.Options{Seed: 1, Each: atOnce})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Cells) != len(figures) {
			t.Errorf("%s has %d cells, want %d", e.Name, len(r.Cells), len(figures))
		}
		for i, c := range r.Cells[:min(len(r.Cells), len(figures))] {
			want := figures[i]
			if want.defined == "" {
				want.defined = want.published
			}
			if c.Cell != want.cell || c.Published != want.published || c.Obtained != want.defined ||
				c.Verdict != reproduce.Equal {
				t.Errorf("%s: got %+v, want %+v", e.Name, c, want)
			}
			if c.Published != c.Obtained && c.Note == "" {
				t.Errorf("%s, %s: nothing says why it is not as printed", e.Name, c.Cell)
			}
		}
	}
}

// A judged is a cell of an experiment on traces: what is published, and the verdict on
// hosts like those of the thesis, of seed 1.
type judged struct {
	cell, published string
	verdict         reproduce.Verdict
}

// onTraces are all cells of those experiments on traces that take a second or so.
var onTraces = map[string][]judged{
	"E3": {
		{"SDSC-like: A, equal", "182.0 ± 9.6", reproduce.Fitted},
		{"SDSC-like: A, scheme 1", "180.3 ± 10.8", reproduce.Differs},
		{"SDSC-like: A, scheme 2", "181.3 ± 9.1", reproduce.Within},
		{"SDSC-like: A of the other schemes is that of equal weights", "within 1 %", reproduce.Differs},
		{"SDSC-like: S of the other schemes is that of equal weights", "within 2 %", reproduce.Differs},
		{"SDSC-like: F of the other schemes is that of equal weights", "within 2 %", reproduce.Direction},
		{"LRI-like: A, equal", "324.4 ± 22.3", reproduce.Fitted},
		{"LRI-like: A, scheme 1", "326.8 ± 21.2", reproduce.Within},
		{"LRI-like: A, scheme 2", "323.9 ± 21.1", reproduce.Within},
		{"LRI-like: A of the other schemes is that of equal weights", "within 1 %", reproduce.Direction},
		{"LRI-like: S of the other schemes is that of equal weights", "within 1.5 %", reproduce.Direction},
		{"LRI-like: F of the other schemes is that of equal weights", "within 5 %", reproduce.Direction},
		{"values of Figs 7-4 and 7-5", "S and F of each scheme", reproduce.Unrecoverable},
		{"which scheme favours yesterday", "prose: scheme 1; equations: scheme 2", reproduce.Unrecoverable},
	},
	"E4": {
		{"DEUG-like: F of FCFS is the number of unavailability events", "yes", reproduce.Direction},
		{"DEUG-like: A and S of FCFSPP not above those of FCFS", "in every category", reproduce.Direction},
		{"DEUG-like: F of FCFSPP never above that of FCFS", "in every category", reproduce.Direction},
		{"DEUG-like: success of FCFSPP above that of FCFS", "in most categories", reproduce.Direction},
		{"category 0.9 to 1: A", "49 by 70, 0.7", reproduce.Unrecoverable},
		{"DEUG-like: category 0.9 to 1: proportion of S", "0.842", reproduce.Direction},
		{"DEUG-like: category 0.9 to 1: proportion of F", "0.100", reproduce.Direction},
		{"DEUG-like: proportion of A rises with rho", "yes", reproduce.Direction},
		{"DEUG-like: proportion of S rises with rho", "yes", reproduce.Direction},
		{"DEUG-like: proportion of F falls with rho", "yes", reproduce.Differs},
		{"DEUG-like: rho -0.2 to 0.3, 10 runs: S and F of FCFSPP below those of FCFS", "in all 5 categories",
			reproduce.Direction},
		{"DEUG-like: rho -0.2 to 0.3, 10 runs: no trend with rho", "yes", reproduce.Differs},
		{"values of Figs 7-6 to 7-15", "proportions of A, S and F by category", reproduce.Unrecoverable},
	},
	"E5": {
		{"DEUG-like: A and S of FLP between those of FCFS and FCFSPP", "in all categories", reproduce.Direction},
		{"DEUG-like: S of FLP closer to FCFS than to FCFSPP", "yes", reproduce.Direction},
		{"DEUG-like: F of FLP between", "in most categories", reproduce.Direction},
		{"DEUG-like: F of FLP above FCFS", "in some categories", reproduce.Differs},
		{"DEUG-like: success of FLP between", "usually", reproduce.Direction},
		{"DEUG-like: success of FLP the lowest of the three", "in some categories", reproduce.Direction},
		{"DEUG-like: success of FLP the best of the three", "never", reproduce.Differs},
		{"values of Figs 7-16 to 7-19", "A, S, F and success of FLP by category", reproduce.Unrecoverable},
	},
	"E9": {
		{"UCB-like: CP1 of CBR and of PSPP", "130.8 (PSPP 3644)", reproduce.Unrecoverable},
		{"LRI-like: CP1 of CBR and of PSPP", "213.4 (PSPP 2)", reproduce.Unrecoverable},
		{"SDSC and DEUG", "CP1 of CBR", reproduce.Unrecoverable},
	},
}

// TestTraceFigures: what is published of the experiments on traces, and how hosts like the
// lost ones stand to it; nothing differs without a reason.
func TestTraceFigures(t *testing.T) {
	for _, e := range Experiments() {
		cells, ok := onTraces[e.Name]
		if !ok {
			continue
		}
		r, err := e.Run(reproduce.Options{Seed: 1, Each: atOnce})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Cells) != len(cells) {
			t.Errorf("%s has %d cells, want %d", e.Name, len(r.Cells), len(cells))
		}
		for i, c := range r.Cells[:min(len(r.Cells), len(cells))] {
			want := cells[i]
			if c.Cell != want.cell || c.Published != want.published || c.Verdict != want.verdict || c.Unexplained() {
				t.Errorf("%s: got %+v, want %+v", e.Name, c, want)
			}
		}
	}
}
