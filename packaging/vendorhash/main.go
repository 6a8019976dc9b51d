// Vendorhash prints the hash of the modules that the program is built of, as
// nix/package.nix has to name it: that of `go mod vendor`, taken as `nix hash path` takes
// it. With -write it puts it there. Nix itself is not needed.
//
// It runs in the directory of go.mod and makes what it hashes in a temporary one.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// packageFile is what names the hash, below the repository.
const packageFile = "nix/package.nix"

var hashLine = regexp.MustCompile(`(?m)^(\s*vendorHash = ")([^"]*)(";)`)

func main() {
	write := flag.Bool("write", false, "put the hash into "+packageFile)
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, "vendorhash:", err)
		os.Exit(1)
	}
}

func run(write bool) error {
	hash, err := vendorHash(context.Background(), ".")
	if err != nil {
		return err
	}
	fmt.Println(hash)
	if !write {
		return nil
	}
	text, err := os.ReadFile(packageFile)
	if err != nil {
		return err
	}
	if _, err := namedHash(text); err != nil {
		return err
	}
	now := hashLine.ReplaceAll(text, []byte("${1}"+hash+"${3}"))
	if bytes.Equal(now, text) {
		return nil
	}
	return os.WriteFile(packageFile, now, 0o644)
}

// namedHash is the hash that the text of nix/package.nix names.
func namedHash(text []byte) (string, error) {
	found := hashLine.FindAllSubmatch(text, -1)
	if len(found) != 1 {
		return "", fmt.Errorf("%s: %d lines with vendorHash, not one", packageFile, len(found))
	}
	return string(found[0][2]), nil
}

// vendorHash is the hash of the modules of the module in dir.
func vendorHash(ctx context.Context, dir string) (hash string, err error) {
	err = withVendor(ctx, dir, func(vendor string) error {
		hash, err = hashPath(vendor)
		return err
	})
	return hash, err
}

// withVendor hands over a directory of the modules, which is gone afterwards.
func withVendor(ctx context.Context, dir string, use func(vendor string) error) error {
	temp, err := os.MkdirTemp("", "vendorhash")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }() // a temporary directory that stays harms nobody
	vendor := filepath.Join(temp, "vendor")
	cmd := exec.CommandContext(ctx, "go", "mod", "vendor", "-o", vendor)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod vendor: %w\n%s", err, out)
	}
	return use(vendor)
}
