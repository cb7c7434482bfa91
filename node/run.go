package node

import (
	"context"
	"errors"
	"time"

	"godwit/internal/pause"
)

// Run serves until ctx ends or something fails that the node cannot do without.
// When ctx ends it says goodbye first: leaderships are handed over and tasks
// given back, within two seconds. It returns when all it started has ended and
// the store is closed.
func (n *Node) Run(ctx context.Context) error {
	hard := n.tasks
	defer n.halt()
	netDone := make(chan error, 1)
	go func() {
		err := n.net.Run(hard)
		n.halt()
		netDone <- err
	}()
	n.spawn(func() { n.monitor.Run(hard) })
	if m, ok := n.exec.Runner.(speedometer); ok {
		n.spawn(func() { n.keepSpeed(hard, m) })
	}
	n.spawn(func() { n.gatherHistories(hard) })
	n.spawn(func() { collector{n.driver, n.monitor}.run(hard) })
	n.spawn(func() { n.joinUnknown(hard) })
	n.useLists(hard)
	n.spawn(func() { n.beFound(hard) })
	n.spawn(func() { n.findOthers(hard) })
	n.spawn(func() { n.keeper.run(hard, n.net) })
	n.spawn(func() { n.recoverJobs(hard) })
	err := n.loop(hard, ctx)
	close(n.stopped)
	met := n.net.Met() // while they are connected
	n.halt()
	netErr := <-netDone // nothing more comes from others
	err = errors.Join(err, n.exec.Close())
	n.group.Wait()
	n.keeper.keep(met, n.net.Named())
	return errors.Join(err, netErr, n.store.ds.Close())
}

// unknownRetry and unknownRetryMost are how often, at first and later, peers are asked for an overlay's manifest that
// nobody has had so far.
const unknownRetry, unknownRetryMost = 2 * time.Second, 30 * time.Second

// joinUnknown joins the overlays that the configuration names and that others
// have to be asked for.
func (o *overlays) joinUnknown(ctx context.Context) {
	for _, what := range o.unknown {
		wait := unknownRetry
		for told := false; ctx.Err() == nil; told = true {
			_, err := o.JoinOverlay(ctx, what, 0)
			if err == nil {
				break
			}
			if !errors.Is(err, ErrUnknownOverlay) {
				o.log.Error("an overlay is not joined", "overlay", what, "err", err)
				break
			}
			if !told {
				o.log.Info("waiting for a peer that knows an overlay", "overlay", what)
			}
			_ = pause.For(ctx, wait)
			wait = min(2*wait, unknownRetryMost)
		}
	}
}
