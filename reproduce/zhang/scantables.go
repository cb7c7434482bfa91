package zhang

// A scanTable is what the text gives of section 7.5 for a set.
type scanTable struct {
	name  string
	cells []scanCell
	total float64 // unavailability events from day 2 on
}

// A scanCell is one figure of one N and P.
type scanCell struct {
	n, p      int
	figure    string // CP1, MD, FA, D, C
	published float64
	note      string
}

const (
	derivedNote = "derived from C and the false alarms, which the text gives"
	swappedNote = "the text swaps MD and FA here; read as what is consistent with the events"
)

var scanTables = []scanTable{
	{"ucb", []scanCell{
		{1, 1, "CP1", 149, ""}, {1, 1, "MD", 5927, ""}, {1, 1, "FA", 4450, derivedNote},
		{1, 1, "D", 2.65, "the text prints 2.58 %; 149/5616 is 2.65 %"}, {1, 1, "C", 3.24, ""},
		{5, 1, "C", 3.58, ""}, {6, 1, "CP1", 671, derivedNote}, {6, 1, "FA", 18567, ""}, {6, 1, "D", 12.0, derivedNote},
		{6, 1, "C", 3.49, ""},
		{1, 10, "CP1", 1609, derivedNote}, {1, 10, "FA", 3592, ""}, {1, 10, "D", 28.7, derivedNote}, {1, 10, "C", 30.94, ""},
		{6, 5, "C", 16.57, ""}, {6, 10, "CP1", 3644, ""}, {6, 10, "MD", 2432, ""}, {6, 10, "D", 64.89, ""},
	}, 5616},
	{"sdsc", []scanCell{
		{1, 1, "CP1", 29, ""}, {1, 1, "MD", 2341, "the text prints 2280; with its 2370 events it is 2341"},
		{1, 1, "D", 1.56, ""},
		{1, 10, "CP1", 96, derivedNote}, {1, 10, "FA", 951, ""}, {1, 10, "C", 9.17, ""}, {6, 1, "CP1", 90, derivedNote},
		{6, 1, "FA", 4317, ""}, {6, 1, "C", 2.04, ""},
		{6, 10, "CP1", 306, ""}, {6, 10, "MD", 2064, ""}, {6, 10, "D", 16.42, ""},
	}, 1864},
	{"lri", []scanCell{
		{1, 1, "CP1", 1, ""}, {1, 1, "MD", 344, ""}, {1, 1, "FA", 247, ""}, {1, 1, "D", 0.29, ""}, {1, 1, "C", 0.40, ""},
		{6, 1, "FA", 900, ""}, {6, 1, "C", 0.11, "the text prints 0.40 %, the value of N = 1"},
		{1, 10, "CP1", 2, ""}, {1, 10, "MD", 343, ""}, {1, 10, "D", 0.58, "the text prints 0.22 %; 2/345 is 0.58 %"},
		{1, 10, "C", 0.80, ""}, {6, 10, "C", 0.22, ""},
	}, 345},
	{"deug", []scanCell{
		{1, 1, "CP1", 104, ""}, {1, 1, "MD", 9660, swappedNote}, {1, 1, "D", 1.38, ""}, {1, 10, "CP1", 925, derivedNote},
		{1, 10, "FA", 4844, swappedNote}, {1, 10, "C", 16.03, ""},
		{6, 1, "CP1", 232, derivedNote}, {6, 1, "FA", 28392, swappedNote}, {6, 1, "C", 0.81, ""}, {6, 10, "CP1", 1802, ""},
		{6, 10, "MD", 7962, swappedNote}, {6, 10, "D", 23.93, ""},
	}, 7529},
}
