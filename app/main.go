// Command dragoman is a self-hosted translation service for models of M2M100, NLLB-200,
// SMaLL-100, mBART-50 and Opus-MT. See README.md, or run `dragoman help`.
package main

import (
	"os"

	"dragoman/app/server"
)

// version is set by the linker.
var version = "dev"

func main() { os.Exit(server.Main(version)) }
