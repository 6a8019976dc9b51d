// Package npmtest is a registry of npm packages on this machine, for tests: the real
// client installs from it, and nothing leaves the machine.
package npmtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Package is one version of a package.
type Package struct {
	Name, Version string
	// Manifest is its package.json.
	Manifest map[string]any
	// Files are the names in its tarball, sorted.
	Files   []string
	tarball []byte
}

// A Registry serves what was published, until the test ends. Its methods may be
// called at the same time.
type Registry struct {
	// URL is what npm_config_registry has to be.
	URL string

	mu     sync.Mutex
	of     map[string][]Package // by name, in the order of publication
	served []string
}

// New starts an empty registry.
func New(t *testing.T) *Registry {
	t.Helper()
	r := &Registry{of: map[string][]Package{}}
	server := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// Env are the variables with which npm asks this registry alone, and touches nothing
// outside of home, which is its home as well.
func (r *Registry) Env(home string) []string {
	return []string{
		"HOME=" + home, "npm_config_registry=" + r.URL, "npm_config_cache=" + filepath.Join(home, ".npm-cache"),
		"npm_config_prefix=" + Prefix(home), "npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false",
		"npm_config_userconfig=" + filepath.Join(home, "npmrc"), "npm_config_globalconfig=" + filepath.Join(home, "npmrc-global"),
	}
}

// Prefix is where `npm install -g` installs with Env(home); its bin belongs on PATH.
func Prefix(home string) string { return filepath.Join(home, "prefix") }

// Publish takes in a tarball that `npm pack` made. The version published last is the latest.
func (r *Registry) Publish(tarball []byte) (Package, error) {
	p := Package{tarball: tarball}
	z, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return p, err
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return p, err
		}
		p.Files = append(p.Files, h.Name)
		if h.Name == "package/package.json" {
			if err := json.NewDecoder(files).Decode(&p.Manifest); err != nil {
				return p, fmt.Errorf("%s: %w", h.Name, err)
			}
		}
	}
	slices.Sort(p.Files)
	p.Name, _ = p.Manifest["name"].(string)
	p.Version, _ = p.Manifest["version"].(string)
	if p.Name == "" || p.Version == "" {
		return p, errors.New("the tarball's package.json lacks a name or a version")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[p.Name] = append(r.of[p.Name], p)
	return p, nil
}

// PublishFile is Publish of a file.
func (r *Registry) PublishFile(path string) (Package, error) {
	tarball, err := os.ReadFile(path)
	if err != nil {
		return Package{}, err
	}
	return r.Publish(tarball)
}

// Served are the packages whose tarballs were asked for, in that order.
func (r *Registry) Served() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.served)
}

// serve answers as a registry does: GET /NAME with what there is of a package, and
// GET /-/VERSION/NAME with a tarball.
func (r *Registry) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, err := url.PathUnescape(strings.TrimPrefix(req.URL.EscapedPath(), "/"))
	if version, of, ok := strings.Cut(strings.TrimPrefix(name, "-/"), "/"); ok && strings.HasPrefix(name, "-/") {
		at := slices.IndexFunc(r.of[of], func(p Package) bool { return p.Version == version })
		if at < 0 {
			http.NotFound(w, req)
			return
		}
		r.served = append(r.served, of)
		_, _ = w.Write(r.of[of][at].tarball)
		return
	}
	packages := r.of[name]
	if err != nil || len(packages) == 0 {
		http.NotFound(w, req)
		return
	}
	versions := map[string]any{}
	for _, p := range packages {
		manifest := maps.Clone(p.Manifest)
		sum := sha512.Sum512(p.tarball)
		manifest["dist"] = map[string]any{
			"tarball":   "http://" + req.Host + "/-/" + p.Version + "/" + name,
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		versions[p.Version] = manifest
	}
	latest := packages[len(packages)-1].Version
	_ = json.NewEncoder(w).Encode(map[string]any{
		"name": name, "dist-tags": map[string]any{"latest": latest}, "versions": versions,
	})
}
