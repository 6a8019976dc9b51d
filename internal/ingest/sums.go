package ingest

import (
	"bytes"
	"crypto/sha256"
	"hash"

	"github.com/terminus-archive/terminus/internal/archive"
)

// sums are the running hashes of a transcript: of the file's own bytes, by which
// the file is known again, and of the state that is archived for it, which a
// capture mode may have made shorter. They are one until a line is archived in
// another form than the file has it.
type sums struct {
	file  hash.Hash
	state hash.Hash // nil while the state is the file
	n     int64     // length of the state
}

// newSums goes on where a watermark and its revision stand; both may be zero.
func newSums(mark archive.Watermark, r archive.Revision) (sums, error) {
	s := sums{n: r.Len}
	var err error
	if s.file, err = archive.RestoreHash(mark.SHAState); err == nil && len(mark.StateSHA) > 0 {
		s.state, err = archive.RestoreHash(mark.StateSHA)
	}
	return s, err
}

// add takes a line, or a piece of one, as the file has it and as it is archived.
func (s *sums) add(file, state []byte) error {
	if s.state == nil && !same(file, state) {
		fork, err := archive.RestoreHash(archive.SaveHash(s.file))
		if err != nil {
			return err
		}
		s.state = fork
	}
	_, _ = s.file.Write(file)
	if s.state != nil {
		_, _ = s.state.Write(state)
	}
	s.n += int64(len(state))
	return nil
}

// same compares bytes that usually are the same slice.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || bytes.Equal(a, b))
}

// save sets the hash states of a watermark.
func (s *sums) save(m *archive.Watermark) {
	m.SHAState, m.StateSHA = archive.SaveHash(s.file), []byte{}
	if s.state != nil {
		m.StateSHA = archive.SaveHash(s.state)
	}
}

// stateSum is the SHA-256 of the archived state.
func (s *sums) stateSum() []byte {
	if s.state != nil {
		return s.state.Sum(nil)
	}
	return s.file.Sum(nil)
}

// fileSum is the SHA-256 of the part of a file that a watermark stands for.
func fileSum(m *archive.Watermark) ([]byte, error) {
	h, err := archive.RestoreHash(m.SHAState)
	if err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

func freshSums() sums { return sums{file: sha256.New()} }
