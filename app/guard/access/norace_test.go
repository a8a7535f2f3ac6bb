//go:build !race

package access

const manyAddresses = 1_000_000
