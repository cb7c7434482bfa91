// Package ending answers when a job will end. It runs the placement policy ahead, in
// virtual time, over the members that a node knows, many times: each time they stay,
// leave and come back as drawn from what is known of each, and tasks take as long as
// drawn from what is known of them. The ends that come out are the forecast.
//
// What is drawn, and from what:
//
//   - how long a member's session goes on: by its survival record, from the curve that
//     predictor.Reader has for it now; how long later ones last, from the curve that it
//     has for a session that begins at that time of the day;
//   - how long it is away: from the absences in the spells that members advertise, its own
//     before those of others, those that began at about the same time of day first;
//   - who else comes: nodes keep nothing of members that have been away for long, so that
//     those that are there stand for them. A member that shows itself a share v of the
//     time is met with the probability v, and stands for 1/v members like it (Horvitz and
//     Thompson 1952), of which all but one are away;
//   - how long a task takes: from tasks that ended and those that still run, which have
//     lasted at least so long (Kaplan and Meier 1958), each weighed anew in every draw
//     (the Bayesian bootstrap: Rubin 1981), so that few of them tell little;
//   - by how much all members together come and go faster or slower than they did: once
//     in every draw.
//
// The work is bounded: many tasks are run as groups, which shrink towards the end of the
// job as in guided self-scheduling (Polychronopoulos and Kuck 1987), and of many members
// a part is drawn, with the same part of the tasks.
package ending
