package wire

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// maxFile is far above any settings file: an agent's state file with thousands of
// projects has a few MiB.
const maxFile = 64 << 20

// ReadFile reads a file of an agent, through links. One that is not there is no
// error; anything that is not a regular file, or has more than 64 MiB, is.
func ReadFile(path string) (text []byte, exists bool, err error) {
	f, _, err := fsx.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, err
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, true, err
	}
	if len(text) > maxFile {
		return nil, true, fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	}
	return text, true, nil
}
