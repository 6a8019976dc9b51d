package ingest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/corpus"
	"github.com/terminus-archive/terminus/internal/harness/registry"
)

// BenchmarkFirstPass archives a generated corpus into a new store. For figures
// use `make bench`, which measures whole processes; this one is for profiles.
func BenchmarkFirstPass(b *testing.B) {
	root := benchRoot(b)
	for b.Loop() {
		b.SetBytes(benchPass(b, root, b.TempDir()).BytesRead)
	}
}

// BenchmarkIdlePass looks at everything and finds nothing new.
func BenchmarkIdlePass(b *testing.B) {
	root := benchRoot(b)
	data := b.TempDir()
	benchPass(b, root, data)
	for b.Loop() {
		if res := benchPass(b, root, data); res.FilesCommitted > 0 {
			b.Fatalf("%+v", res)
		}
	}
}

// benchRoot is the corpus that TERMINUS_BENCH_ROOT names, or a small one.
func benchRoot(b *testing.B) string {
	b.Helper()
	root := os.Getenv("TERMINUS_BENCH_ROOT")
	if root == "" {
		root = b.TempDir()
		if _, err := corpus.Generate(root, corpus.Options{Seed: 1, Bytes: 20 << 20, Projects: 4}); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

func benchPass(b *testing.B, root, data string) Result {
	b.Helper()
	cfg, err := config.Load(config.Environ{
		Get: func(name string) string {
			return map[string]string{"TERMINUS_DATA_DIR": data, "TERMINUS_CONFIG_DIR": data, "CLAUDE_CONFIG_DIR": root}[name]
		},
		Home: data, WorkDir: data, GOOS: "linux",
	})
	if err != nil {
		b.Fatal(err)
	}
	res, err := Run(context.Background(), Options{Config: cfg, Harnesses: registry.All(), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	return res
}

// BenchmarkReindex derives everything again.
func BenchmarkReindex(b *testing.B) {
	root := benchRoot(b)
	data := b.TempDir()
	bytes := benchPass(b, root, data).BytesRead
	b.SetBytes(bytes)
	for b.Loop() {
		if _, err := Reindex(context.Background(), ReindexOptions{DataDir: data}); err != nil {
			b.Fatal(err)
		}
	}
}
