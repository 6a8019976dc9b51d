module github.com/terminus-archive/terminus

go 1.26.0

require (
	github.com/BurntSushi/toml v1.6.0 // terminus.toml: errors carry line and column
	github.com/gofrs/flock v0.13.2 // the ingest lock, on every system we ship for
	github.com/klauspost/compress v1.20.4 // zstd frames without cgo
	github.com/rogpeppe/go-internal v1.16.0 // testscript: the command-line contract is verified with it
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // tests only: what the MCP server writes is held to the protocol's schemas
	github.com/spf13/cobra v1.10.2 // command tree, help, completions
	github.com/spf13/pflag v1.0.9 // cobra's flags, for types of our own
	go.yaml.in/yaml/v3 v3.0.5 // tests only: the workflows are read with it
	golang.org/x/sys v0.50.0 // free space and process flags of each system
	golang.org/x/term v0.48.0 // is it a terminal, and how wide
	golang.org/x/text v0.41.0 // letters and their marks as one character
	modernc.org/libc v1.80.1 // memory and logarithm of exactly this sqlite: never raise one alone
	modernc.org/sqlite v1.62.0 // SQLite with FTS5 and dbstat without cgo
)

require (
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
