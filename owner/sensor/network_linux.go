package sensor

import (
	"context"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	networkManager     = "org.freedesktop.NetworkManager"
	networkManagerPath = dbus.ObjectPath("/org/freedesktop/NetworkManager")
	// NMMetered: yes, and yes by a guess from the kind of device.
	meteredYes   = 1
	meteredGuess = 3
)

// NetworkManager asks NetworkManager over the system bus whether the primary
// connection is paid by volume.
type NetworkManager struct {
	Address string // of the bus; "" for the system's
}

// Name returns "networkmanager".
func (NetworkManager) Name() string { return "networkmanager" }

// Kinds returns Network.
func (NetworkManager) Kinds() []Kind { return []Kind{Network} }

// Run watches until ctx ends.
func (n NetworkManager) Run(ctx context.Context, report func(Reading)) {
	watch(ctx, n, report, func(ctx context.Context) error { return n.session(ctx, report) })
}

func (n NetworkManager) session(ctx context.Context, report func(Reading)) error {
	const fix = "set max_upload_rate and max_download_rate if this network is paid by volume"
	b, err := dialBus(ctx, n.Address, networkManager, false)
	if err != nil {
		return blind(err.Error(), fix)
	}
	defer b.conn.Close()
	known, last := false, false
	return b.listen(ctx, func(*dbus.Signal) error {
		props, err := b.properties(ctx, networkManager, networkManagerPath, networkManager)
		if err != nil {
			return blind(fmt.Sprintf("NetworkManager does not answer: %v", err), fix)
		}
		m := property[uint32](props, "Metered")
		if on := m == meteredYes || m == meteredGuess; !known || on != last {
			known, last = true, on
			report(Reading{Sensor: n.Name(), Kind: Network, At: time.Now(), On: on, Detail: "Metered"})
		}
		return nil
	})
}
