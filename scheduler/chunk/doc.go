// Package chunk decides how many tasks of a sweep a member is given at once.
//
// Few tasks at a time cost a message each and leave members waiting for the next;
// many leave one member working long after the others have ended. A Policy is made
// for one job, hears which members join and leave, what they have done and how long
// that took, and answers how many runs a member gets next. It keeps no queue: the
// caller knows which tasks are left, and tells how many.
//
// There are the six schedulers of Sim-PETEK (G. Karaduman, M.Sc. thesis, METU, 2010;
// sections below are its own), which learn members' speeds as they go, and the
// classic ways to schedule the iterations of a parallel loop, each from the paper
// that published it. A new policy is one file and its registration.
//
// # Words
//
// A run is one task of the sweep, with all its Monte Carlo trials. A chunk is what a
// member is given at once; the thesis calls it a job. A slot runs one trial at a
// time. Where a paper has processors of one slot each, a member with several is so
// many processors that ask together.
//
// # Duties of a caller
//
// Say Join before anything else of a member, and Leave when it goes: what it held
// counts as lost with it. When members are idle ask Size, the one of the highest
// Rank first if the policy is a Ranker, and give what it answers. All that is heard
// at one instant (Done, Back, Join, Leave) is told before Size is asked: the policy
// learns from it once. Size answers 0 only while runs that were given are still out;
// the member is asked again after the next event. Every run that was given comes
// back by exactly one of Done, Back and Leave.
package chunk
