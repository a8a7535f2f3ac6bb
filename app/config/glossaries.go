package config

import "fmt"

// GlossariesOff is what GLOSSARY_FILE is where there are no glossaries.
const GlossariesOff = "off"

// mostGlossaryBytes keeps what a request loads, and what Redis stores in one piece, small.
const mostGlossaryBytes = 64 << 20

// validateGlossaries names what of the settings of glossaries does not fit.
func (c Config) validateGlossaries(within func(name string, value, low, high int64)) (errs []error) {
	within("GLOSSARY_MAX_TERMS", int64(c.GlossaryMaxTerms), 1, 1<<20)
	within("GLOSSARIES_PER_KEY", int64(c.GlossariesPerKey), 1, 1<<16)
	if c.GlossaryMaxBytes < 1<<10 || c.GlossaryMaxBytes > mostGlossaryBytes {
		errs = append(errs, fmt.Errorf("GLOSSARY_MAX_BYTES=%d bytes: use 1KiB to 64MiB", c.GlossaryMaxBytes))
	}
	return errs
}
