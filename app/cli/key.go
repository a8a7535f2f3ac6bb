package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"dragoman/app/guard/access"
)

func (p *Program) key() *cobra.Command {
	var admin bool
	cmd := &cobra.Command{
		DisableFlagsInUseLine: true, Use: "key NAME [rate=10/s] [burst=20] [chars=100000/m] [tokens=5000000/h]", Short: "Make an API key",
		Long: `Makes an API key. The key is printed on standard error, only now: give it to the caller. Its
line for API_KEYS_FILE, with a digest of the key, is printed on standard output. The key of an
admin also loads and unloads models.`,
		Example: "  dragoman key alice rate=10/s >>keys.txt",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("key needs the caller's name: dragoman key alice")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			key, options := access.NewKey(), args[1:]
			if admin {
				options = append([]string{"admin"}, options...)
			}
			line, err := access.Line(args[0], key, options...)
			if err != nil {
				return usagef("key: %w", err)
			}
			fmt.Fprintf(p.Stderr, "The key of %s: %s\n", args[0], key)
			_, err = fmt.Fprintln(p.Stdout, line)
			return err
		},
	}
	cmd.Flags().BoolVar(&admin, "admin", false, "the key also loads and unloads models")
	return cmd
}
