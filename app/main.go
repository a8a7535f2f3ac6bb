// Command dragoman is a self-hosted translation service for M2M100, NLLB-200 and
// SMaLL-100 models. See README.md, or run `dragoman help`.
package main

import (
	"os"

	"dragoman/app/server"
)

// version is set by the linker.
var version = "dev"

func main() { os.Exit(server.Main(version)) }
