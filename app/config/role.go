package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Role is what a process does.
type Role string

// The roles.
const (
	All     Role = "all"     // takes requests and decodes them
	Gateway Role = "gateway" // takes requests, and has workers decode them
	Worker  Role = "worker"  // decodes what gateways put into the queue
)

var prefixPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$`)

// unsigned is what FLEET_SECRET has among others while a fleet begins to sign, or ends it.
const unsigned = "none"

// validateRole names what of the settings of a fleet does not fit.
func (c Config) validateRole() (errs []error) {
	if !slices.Contains([]Role{All, Gateway, Worker}, c.Role) {
		return []error{fmt.Errorf("ROLE=%q: use all, gateway or worker", c.Role)}
	}
	if c.Role != All && c.BrokerURL == "" {
		errs = append(errs, fmt.Errorf("ROLE=%s needs BROKER_URL: set it to a Redis, such as redis://localhost:6379", c.Role))
	}
	if c.BrokerURL != "" {
		// The library that connects says the rest. The URL may have a password, so it is not repeated.
		u, err := url.Parse(c.BrokerURL)
		if err != nil || !slices.Contains([]string{"redis", "rediss", "unix"}, u.Scheme) {
			errs = append(errs, errors.New("BROKER_URL: use a URL such as redis://localhost:6379, rediss:// for TLS, or unix:///path"))
		}
	}
	for i, secret := range c.FleetSecret {
		// It is not repeated.
		if n := len(secret); secret != unsigned && (n < 32 || n > 256 || strings.TrimSpace(secret) != secret) || slices.Contains(c.FleetSecret[:i], secret) {
			errs = append(errs, errors.New("FLEET_SECRET: use 32 to 256 characters, such as what `openssl rand -hex 32` prints, or several different ones with commas between"))
			break
		}
	}
	if !prefixPattern.MatchString(c.BrokerPrefix) {
		errs = append(errs, fmt.Errorf("BROKER_PREFIX=%.80q: use 1 to 64 letters, digits and . _ : -, the first of them a letter or digit", c.BrokerPrefix))
	}
	return errs
}
