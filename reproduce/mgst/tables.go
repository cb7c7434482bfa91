package mgst

// A table is one experiment as published: mean response times in time units, by
// policy in the order of policies, and for classes 1 to 4 and all jobs.
type table struct {
	name, title, where string
	system             *system
	available          []float64 // by machine; nil is all of each
	fails              bool      // machines do, and are repaired
	simulated          [3][5]ends
	testbed            [3][5]float64 // mean response on the testbed, as simulated has it; 0 is N/A
	minutes            [3]float64    // length of a time unit on the testbed, by policy
	ran                [3]float64    // length of the testbed's run in time units, by policy; 0 where it is N/A
	fitsRates          bool          // the system's rates were searched for with LPAS_DG's simulated column
}

// A rerun is an experiment that is run again.
type rerun struct {
	*table
	note string // on all its simulated figures
}

// ends are those of an interval of 95 % as printed; zero is N/A, a system that is
// not stable.
type ends struct{ low, high float64 }

var none5 [5]ends

var tables = [...]table{
	{
		"exp1", "HiHi", "Tables 7.1 to 7.3", hiHi, nil, false,
		[3][5]ends{
			{{.56, .57}, {.33, .34}, {.18, .18}, {.11, .11}, {.20, .21}},
			{{.66, .67}, {.26, .26}, {.25, .25}, {.27, .27}, {.30, .30}},
			{{1.30, 1.33}, {.99, 1.02}, {.99, 1.02}, {.99, 1.02}, {1.01, 1.05}},
		}, [3][5]float64{
			{.58, .34, .22, .17, .24},
			{.78, .29, .21, .31, .34},
			{1.27, 1.01, .98, .97, 1.00},
		}, [3]float64{2, 2, 5}, [3]float64{45, 315, 253}, false,
	},
	{
		"exp2", "HiHi, half of three machines", "Tables 7.4 to 7.7", hiHi, halfOfThree, false,
		[3][5]ends{
			{{.97, .98}, {.22, .22}, {.27, .27}, {.16, .16}, {.27, .27}},
			{{1.10, 1.11}, {.42, .42}, {.36, .36}, {.44, .44}, {.47, .47}},
			none5,
		}, [3][5]float64{
			{.99, .37, .29, .43, .42},
			{1.51, .59, .50, .59, .64},
			{},
		}, [3]float64{3, 2.9, 2.1}, [3]float64{130.7, 81.7, 0}, false,
	},
	{
		"exp3", "HiHi with failures", "Tables 7.8 and 7.9", hiHi, nil, true,
		[3][5]ends{
			{{.61, .61}, {.35, .35}, {.19, .20}, {.13, .13}, {.23, .23}},
			{{.73, .73}, {.28, .28}, {.27, .27}, {.30, .30}, {.32, .33}},
			none5,
		}, [3][5]float64{
			{.61, .45, .20, .15, .25},
			{.77, .30, .26, .30, .33},
			{},
		}, [3]float64{3, 4, 4}, [3]float64{258.7, 56.4, 0}, false,
	},
	{
		"exp4", "HiHi, half of three machines, with failures", "Tables 7.10 and 7.11", hiHi, halfOfThree, true,
		[3][5]ends{
			{{1.10, 1.11}, {.30, .31}, {.32, .32}, {.26, .27}, {.35, .36}},
			{{1.26, 1.27}, {.50, .51}, {.42, .42}, {.53, .53}, {.56, .56}},
			none5,
		}, [3][5]float64{
			{1.03, .50, .46, 1.36, .94},
			{1.30, .55, .41, .51, .56},
			{},
		}, [3]float64{2.8, 3, 3}, [3]float64{309, 40, 0}, false,
	},
	{
		"exp5", "LoHi", "Tables 7.12 to 7.14", loHi, nil, false,
		[3][5]ends{
			{{.22, .22}, {.12, .12}, {.30, .30}, {.29, .29}, {.22, .22}},
			{{.21, .21}, {.21, .22}, {.21, .21}, {.21, .21}, {.21, .21}},
			{{.21, .21}, {.21, .22}, {.21, .21}, {.22, .22}, {.21, .21}},
		}, [3][5]float64{
			{.31, .22, .37, .35, .31},
			{.26, .25, .24, .25, .25},
			{.26, .26, .25, .26, .26},
		}, [3]float64{2, 2, 2}, [3]float64{50, 50, 160}, false,
	},
	{
		"exp6", "LoHi, part of six machines", "Tables 7.15 and 7.16", loHi, partOfSix, false,
		[3][5]ends{
			{{.24, .24}, {.13, .13}, {.37, .37}, {.35, .35}, {.26, .27}},
			{{.23, .23}, {.24, .24}, {.23, .23}, {.24, .24}, {.24, .24}},
			{{.24, .24}, {.24, .24}, {.23, .23}, {.24, .24}, {.24, .24}},
		}, [3][5]float64{
			{.36, .26, .44, .47, .37},
			{.30, .32, .31, .33, .31},
			{.31, .32, .31, .32, .31},
		}, [3]float64{2, 2, 2}, [3]float64{55, 50, 50}, false,
	},
	{
		"exp7", "HiLo", "Tables 7.17 to 7.19", hiLo, nil, false,
		[3][5]ends{
			{{.49, .49}, {.28, .28}, {.24, .24}, {.14, .14}, {.25, .25}},
			{{.50, .50}, {.26, .26}, {.18, .18}, {.11, .11}, {.22, .22}},
			{{.49, .49}, {.27, .27}, {.18, .18}, {.12, .12}, {.22, .22}},
		}, [3][5]float64{
			{.50, .31, .32, .35, .35},
			{.53, .30, .21, .14, .25},
			{.51, .31, .23, .17, .26},
		}, [3]float64{2, 2, 2}, [3]float64{50, 50, 50}, false,
	},
	{
		"exp8", "HiLo, part of six machines", "Tables 7.20 and 7.21", hiLo, partOfSix, false,
		[3][5]ends{
			{{.79, .80}, {.42, .42}, {.27, .27}, {.19, .19}, {.35, .35}},
			{{.64, .65}, {.35, .35}, {.24, .24}, {.14, .15}, {.29, .29}},
			{{.62, .62}, {.37, .37}, {.28, .28}, {.20, .21}, {.32, .32}},
		}, [3][5]float64{
			{1.22, .77, .53, .73, .74},
			{.96, .54, .38, .24, .44},
			{.65, .41, .33, .25, .36},
		}, [3]float64{2, 2, 2}, [3]float64{62, 52, 50}, false,
	},
	{
		"exp9", "LoLo", "Tables 7.22 to 7.24", loLo, nil, false,
		[3][5]ends{
			{{.25, .25}, {.23, .23}, {.23, .23}, {.21, .22}, {.23, .23}},
			{{.20, .20}, {.20, .20}, {.21, .21}, {.20, .20}, {.21, .21}},
			{{.20, .20}, {.20, .20}, {.21, .21}, {.20, .20}, {.21, .21}},
		}, [3][5]float64{
			{.27, .28, .28, .25, .27},
			{.23, .23, .24, .23, .23},
			{.23, .23, .23, .23, .23},
		}, [3]float64{2, 2, 2}, [3]float64{54, 55, 50}, true,
	},
	{
		"exp10", "LoLo, part of six machines", "Tables 7.25 and 7.26", loLo, partOfSix, false,
		[3][5]ends{
			{{.28, .28}, {.30, .30}, {.27, .27}, {.32, .32}, {.30, .30}},
			{{.24, .24}, {.24, .24}, {.25, .25}, {.24, .24}, {.24, .24}},
			{{.24, .24}, {.24, .24}, {.25, .25}, {.24, .24}, {.24, .24}},
		}, [3][5]float64{
			{.39, .39, .35, .36, .37},
			{.32, .32, .33, .33, .33},
			{.29, .29, .30, .29, .29},
		}, [3]float64{2, 2, 2}, [3]float64{78, 60, 50}, true,
	},
	{
		"exp11", "LoLo with failures", "Tables 7.27 and 7.28", loLo, nil, true,
		[3][5]ends{
			{{.25, .25}, {.24, .24}, {.24, .24}, {.24, .24}, {.24, .24}},
			{{.21, .21}, {.21, .21}, {.21, .21}, {.21, .21}, {.21, .21}},
			{{.21, .21}, {.21, .21}, {.22, .22}, {.21, .21}, {.21, .21}},
		}, [3][5]float64{
			{.35, .34, .33, .29, .33},
			{.26, .26, .27, .26, .26},
			{.24, .24, .24, .24, .24},
		}, [3]float64{2, 2, 2}, [3]float64{50, 243, 55}, false,
	},
	{
		"exp12", "LoLo, part of six machines, with failures", "Tables 7.29 and 7.30", loLo, partOfSix, true,
		[3][5]ends{
			{{.31, .31}, {.32, .32}, {.32, .32}, {.34, .34}, {.32, .32}},
			{{.26, .26}, {.25, .26}, {.27, .27}, {.26, .26}, {.26, .26}},
			{{.26, .26}, {.26, .26}, {.27, .27}, {.26, .26}, {.26, .26}},
		}, [3][5]float64{
			{.52, .63, .57, .52, .56},
			{.37, .38, .38, .38, .38},
			{.41, .42, .43, .42, .42},
		}, [3]float64{2, 2, 2}, [3]float64{88, 54, 50}, false,
	},
}
