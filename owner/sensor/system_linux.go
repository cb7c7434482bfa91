package sensor

// System returns the sensors of this machine, in the order in which a person
// would name them.
func System() []Sensor {
	return []Sensor{
		&Logind{}, X11{}, Wayland{}, Mutter{}, Evdev{}, TTYs{},
		Processors{}, MemoryPressure{}, PowerSupply{}, NetworkManager{}, Clock{},
	}
}
