package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
)

// A scene is what scene.json holds. Lengths are in any one unit, angles in
// degrees, colours linear from 0 to 1.
type scene struct {
	Width, Height int
	Samples       int // paths per pixel
	Bounces       int // the most times a path is scattered
	Camera        camera
	Sky           sky
	Materials     map[string]material
	Spheres       []sphere
	Planes        []plane
}

type camera struct {
	From, To vec
	Angle    float64 // of view, from top to bottom
	Aperture float64 // diameter of the lens; 0 makes everything sharp
	Focus    float64 // distance that is sharp; 0 means that of To
}

// A sky lights the scene from all around: a gradient and a sun.
type sky struct {
	Horizon, Zenith vec
	Sun             vec     // direction towards it
	SunColor        vec     // what its disc sends out
	SunSize         float64 // its radius
}

// A material scatters light. Kind is "matte", "metal", "glass" or "light".
type material struct {
	Kind   string
	Color  vec
	Color2 *vec    // if set, a chequered pattern with Color
	Check  float64 // size of its squares
	Rough  float64 // of metal: 0 is a mirror
	Index  float64 // of glass: of refraction
}

type sphere struct {
	Center   vec
	Radius   float64
	Material string
	mat      *material
}

// A plane is all points p with p·Normal = Offset.
type plane struct {
	Normal   vec
	Offset   float64
	Material string
	mat      *material
}

func readScene(name string) (*scene, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := &scene{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// maxPixels keeps a mistyped size from eating all memory.
const maxPixels = 1 << 26

func (s *scene) prepare() error {
	if s.Width < 1 || s.Height < 1 || s.Width > maxPixels/s.Height {
		return fmt.Errorf("a picture of %d x %d cannot be made", s.Width, s.Height)
	}
	if s.Samples < 1 || s.Bounces < 1 {
		return fmt.Errorf("samples and bounces must be at least 1")
	}
	for i := range s.Spheres {
		o := &s.Spheres[i]
		if o.mat = s.material(o.Material); o.mat == nil {
			return fmt.Errorf("sphere %d: no material %q", i, o.Material)
		}
	}
	for i := range s.Planes {
		o := &s.Planes[i]
		if o.mat = s.material(o.Material); o.mat == nil {
			return fmt.Errorf("plane %d: no material %q", i, o.Material)
		}
		o.Normal = o.Normal.unit()
	}
	s.Sky.Sun = s.Sky.Sun.unit()
	if s.Camera.Focus == 0 {
		s.Camera.Focus = s.Camera.To.sub(s.Camera.From).length()
	}
	return nil
}

func (s *scene) material(name string) *material {
	m, ok := s.Materials[name]
	if !ok {
		return nil
	}
	return &m
}

// colorAt is the colour of a material at a point of its surface.
func (m *material) colorAt(p vec) vec {
	if m.Color2 == nil || m.Check == 0 {
		return m.Color
	}
	n := math.Floor(p.X/m.Check) + math.Floor(p.Z/m.Check)
	if math.Mod(math.Abs(n), 2) == 1 {
		return *m.Color2
	}
	return m.Color
}
