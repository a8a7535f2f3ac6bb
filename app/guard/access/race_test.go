//go:build race

package access

// manyAddresses are enough to fill the memory for addresses twice. The race detector
// takes a minute for a million.
const manyAddresses = 2 * mostClients
