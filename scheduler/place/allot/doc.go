// Package allot divides machines among classes of tasks: the allocation linear
// program of LPAS (Al-Azzoni and Down 2008; Kokaly 2008, (4.2) to (4.4)).
//
// With alpha_i the arrival rate of class i, mu_ij the rate at which machine j
// executes tasks of class i, and a_j the share of machine j that tasks get,
// Solve finds the largest lambda and the parts delta_ij of machines that carry it:
//
//	max lambda
//	sum over j of delta_ij mu_ij >= lambda alpha_i  for every class i
//	sum over i of delta_ij       <= a_j             for every machine j
//	delta_ij >= 0
//
// lambda is by how much all arrivals could grow together before the machines are
// overloaded; 1/lambda is the ideal load. The answer is a vertex, so that of N
// classes and M machines at least NM+1-N-M of the delta are 0: which of them are
// not is what policies go by.
package allot
