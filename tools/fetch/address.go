package fetch

import (
	"net/netip"
	"slices"
)

// Why an address is not reached, as a message says it.
const (
	classLoopback  = "this machine"
	classPrivate   = "a private network"
	classLocal     = "the local link, where metadata services live"
	classShared    = "a carrier's shared network"
	classMulticast = "many machines at once"
	classReserved  = "a range that is reserved and not part of the public internet"
	classEmbedded  = "an IPv4 address inside an IPv6 address"
	classMetadata  = "a cloud's metadata service"
	classZone      = "a network interface of this machine"
)

// A special range is not the public internet. Source: the IANA registries of
// special-purpose addresses (RFC 6890) and of what clouds use for their metadata.
type special struct {
	prefix netip.Prefix
	class  string
}

var specials = parseSpecials(map[string][]string{
	classLoopback: {"127.0.0.0/8", "0.0.0.0/8", "::/128", "::1/128"},
	classPrivate:  {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"},
	classLocal:    {"169.254.0.0/16", "fe80::/10"},
	classShared:   {"100.64.0.0/10"},
	// The second is reached by each machine of that cloud, and by nobody else.
	classMetadata:  {"100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::254/128"},
	classMulticast: {"224.0.0.0/4", "ff00::/8"},
	classEmbedded:  {"::ffff:0:0/96", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::ffff:0:0:0/96"},
	classReserved: {
		"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20",
	},
})

// parseSpecials puts the narrowest range first: it says most.
func parseSpecials(classes map[string][]string) []special {
	var out []special
	for class, prefixes := range classes {
		for _, p := range prefixes {
			out = append(out, special{netip.MustParsePrefix(p), class})
		}
	}
	slices.SortFunc(out, func(a, b special) int {
		if n := b.prefix.Bits() - a.prefix.Bits(); n != 0 {
			return n
		}
		return a.prefix.Addr().Compare(b.prefix.Addr())
	})
	return out
}

// globalUnicast is all of IPv6 that has been given out.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// classOf says of what an address that is not of the public internet is one; "" of
// all others. It is decided by the number alone.
func classOf(a netip.Addr) string {
	if a.Zone() != "" {
		return classZone
	}
	if a.Is4In6() {
		return classEmbedded
	}
	for _, s := range specials {
		if s.prefix.Contains(a) {
			return s.class
		}
	}
	switch {
	case !a.IsValid(), a.Is6() && !globalUnicast.Contains(a):
		return classReserved
	case a.Is6() && isISATAP(a):
		return classEmbedded
	}
	return ""
}

// isISATAP: the interface part holds an IPv4 address (RFC 5214, section 6.1).
func isISATAP(a netip.Addr) bool {
	b := a.As16()
	return (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
