package files

import (
	"bytes"
	"errors"
	"io"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/transcript"
)

const (
	// headBytes is many times what the first records of a transcript take that say whose it is.
	headBytes = 64 << 10
	// lineBytes holds the header of a file of lines. It is read first: a look at every file
	// of a store is paid in each pass, and reading all of headBytes costs several times as much.
	lineBytes = 4 << 10
)

// Head is the JSON value that a file begins with, as far as it stands in the first 64 KiB: its
// members can be asked that end there, whether the rest is whole or not. It is nil, and no
// error, where the file does not begin with an object.
func Head(path string) (transcript.Value, error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, limit := range []int{lineBytes, headBytes} {
		data := make([]byte, limit)
		n, err := f.ReadAt(data, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		data, _ = transcript.Trim(bytes.TrimPrefix(data[:n], []byte("\xef\xbb\xbf")))
		line, _, ended := bytes.Cut(data, []byte{'\n'})
		if v, whole := transcript.ParseValue(line); ended && whole {
			data = v
		} else if n == limit && limit < headBytes {
			continue
		}
		if v := transcript.Value(data); v.Kind() == '{' {
			return v, nil
		}
		break
	}
	return nil, nil
}
