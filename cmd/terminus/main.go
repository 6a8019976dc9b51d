// Terminus keeps every coding-agent session and finds any turn of it.
package main

import (
	"os"

	"github.com/terminus-archive/terminus/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
