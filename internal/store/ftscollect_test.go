package store

import (
	"testing"
)

func TestTheIndexCanBeReadDirectly(t *testing.T) {
	if !registered() || !collects() {
		t.Fatal("it cannot")
	}
}

func BenchmarkProof(b *testing.B) {
	registered()
	for b.Loop() {
		if !prove() {
			b.Fatal("no")
		}
	}
}
