package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// FileName is the configuration file in the configuration directory.
	FileName = "terminus.toml"
	// PointerName is the file in the configuration directory that names the
	// data directory after it was moved.
	PointerName = "data-location"

	// appDir is the program's directory below those of the platform.
	appDir = "terminus"

	// maxPointer is far above the longest path of any system (32,767 UTF-16
	// units on Windows).
	maxPointer = 128 << 10
)

// Directories are the two places that Terminus keeps files in. None of them
// need exist.
type Directories struct {
	// Data holds the store. It is absolute.
	Data string
	// Config holds terminus.toml and the pointer; "" if the system gives no
	// place for it, in which case there is neither.
	Config string
	// Variable is the environment variable that named Data, and so outranks the
	// pointer; "" if none did.
	Variable string
}

// Dirs resolves the directories without reading terminus.toml. The data
// directory is TERMINUS_DATA_DIR, else what the pointer file names, else the
// platform's; a relative variable is meant from the working directory. A
// pointer that is there but cannot be read, or that names no
// absolute path, is an error: falling through would start a second store. On
// an error the configuration directory is returned all the same.
func Dirs(e Environ) (Directories, error) {
	d := Directories{Config: configDir(e)}
	if e.get(envDataDir) != "" {
		d.Variable = envDataDir
	}
	dir, err := dataDir(e, d.Config)
	if err != nil {
		return d, err
	}
	abs, ok := e.absolute(dir)
	if !ok {
		return d, fmt.Errorf("the data directory %q is not absolute, and there is no working directory to see it from", dir)
	}
	d.Data = abs
	return d, nil
}

// dataDir is the data directory as it is named.
func dataDir(e Environ, configDir string) (string, error) {
	if dir := e.get(envDataDir); dir != "" {
		return dir, nil
	}
	if configDir != "" {
		dir, err := ReadPointer(filepath.Join(configDir, PointerName))
		if dir != "" || err != nil {
			return dir, err
		}
	}
	return platformDataDir(e)
}

// configDir returns "" where nothing says where the directory is.
func configDir(e Environ) string {
	if dir := e.get(envConfigDir); dir != "" {
		return dir
	}
	if e.GOOS == "windows" {
		return below(e.get(envRoamedData), appDir)
	}
	if dir := e.get(envXDGConfig); dir != "" {
		return filepath.Join(dir, appDir)
	}
	return below(e.Home, ".config", appDir)
}

func platformDataDir(e Environ) (string, error) {
	var dir, unset string
	switch e.GOOS {
	case "windows":
		dir, unset = below(e.get(envLocalData), appDir), envLocalData
	case "darwin":
		dir, unset = below(e.Home, "Library", "Application Support", appDir), "HOME"
	default:
		dir, unset = below(e.get(envXDGData), appDir), "HOME"
		if dir == "" {
			dir = below(e.Home, ".local", "share", appDir)
		}
	}
	if dir == "" {
		return "", fmt.Errorf("no place for the data directory: neither %s nor %s is set", envDataDir, unset)
	}
	return dir, nil
}

// below joins elem to base, and is "" if base is.
func below(base string, elem ...string) string {
	if base == "" {
		return ""
	}
	return filepath.Join(append([]string{base}, elem...)...)
}

// ReadPointer returns the path in the pointer file at path, "" if there is no
// file or it is blank.
func ReadPointer(path string) (string, error) {
	data, err := readFile(path, maxPointer)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot tell where the data directory is: %w", err)
	}
	return parsePointer(path, string(data))
}

// Pointer is what the pointer file holds for a data directory. A path that would
// not be read back as it is, for its white space at the end or a line break, is an
// error.
func Pointer(dir string) (string, error) {
	text := dir + "\n"
	if back, err := parsePointer(PointerName, text); err != nil || back != dir {
		return "", fmt.Errorf("the file %s cannot hold the path %q", PointerName, dir)
	}
	return text, nil
}

func parsePointer(path, text string) (string, error) {
	dir := strings.TrimSpace(text)
	switch {
	case dir == "":
		return "", nil
	case strings.ContainsAny(dir, "\r\n\x00"):
		return "", fmt.Errorf("%s: holds more than one path", path)
	case !filepath.IsAbs(dir):
		return "", fmt.Errorf("%s: %q is not an absolute path", path, dir)
	}
	return dir, nil
}

// readFile reads a regular file of at most limit bytes. Anything else is an
// error that names the file, so that a named pipe in its place cannot hold up
// the program.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, limit)
	}
	return data, nil
}
