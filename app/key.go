package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"dragoman/app/access"
)

const keyUsage = `dragoman key name [--admin] [rate=10/s] [burst=20] [chars=100000/m]

Makes an API key. The key, which is for the caller and is shown only now, goes to
standard error; its line for API_KEYS_FILE, which has only a digest of it, goes to
standard output:

  dragoman key alice rate=10/s >>keys.txt

The key of an admin also loads and unloads models.`

// key makes an API key.
func (p *program) key(_ context.Context, args []string) error {
	flags := pflag.NewFlagSet("key", pflag.ContinueOnError)
	admin := flags.Bool("admin", false, "the key also loads and unloads models")
	args, err := p.parse(flags, args, keyUsage)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return &usageError{errors.New("key needs the caller's name: dragoman key alice")}
	}
	key := access.NewKey()
	options := args[1:]
	if *admin {
		options = append([]string{"admin"}, options...)
	}
	line, err := access.Line(args[0], key, options...)
	if err != nil {
		return &usageError{fmt.Errorf("key: %w", err)}
	}
	fmt.Fprintf(p.stderr, "The key of %s: %s\n", args[0], key)
	_, err = fmt.Fprintln(p.stdout, line)
	return err
}
