package relocate

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/ingest"
)

// A pass has read where the data directory is, and comes to its lock after a move. At
// the old place it must make nothing: there would be two archives.
func TestAPassThatComesAfterAMoveMakesNothingAtTheOldPlace(t *testing.T) {
	for name, late := range map[string]bool{"moved before it looks": false, "moved before it takes the lock": true} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			looks := 0
			_, err := ingest.Run(t.Context(), ingest.Options{
				Config: &config.Config{DataDir: p.data, ConfigDir: p.conf}, Now: time.Now,
				Where: func() (string, error) {
					looks++
					if looks > 1 {
						return config.ReadPointer(filepath.Join(p.conf, config.PointerName))
					}
					err := p.move()
					if late {
						return p.data, err // as it was a moment ago
					}
					return p.to, err
				},
			})
			if !errors.Is(err, ingest.ErrMoved) {
				t.Errorf("the pass ended with %v", err)
			}
			p.arrived()
		})
	}
}
