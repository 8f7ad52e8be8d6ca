/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the headers of a frame of the short way lie: Ethernet with at most one VLAN tag, IPv4
 * without options or IPv6 without extension headers, UDP. For skim*.c alone.
 */
#ifndef CAPTURE_SKIM_LAYOUT_H
#define CAPTURE_SKIM_LAYOUT_H

#include <stdint.h>

#define ETH_LEN	       14
#define VLAN_LEN       4
#define IPV4_LEN       20
#define IPV6_LEN       40
#define UDP_LEN	       8
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd

/* Of a layout. */
#define LAYOUT_VLAN 1
#define LAYOUT_IPV6 2
#define LAYOUTS	    4

static inline uint32_t skim_l3_of(unsigned int layout)
{
	return layout & LAYOUT_VLAN ? ETH_LEN + VLAN_LEN : ETH_LEN;
}

static inline uint32_t skim_bth_of(unsigned int layout)
{
	return skim_l3_of(layout) + UDP_LEN + (layout & LAYOUT_IPV6 ? IPV6_LEN : IPV4_LEN);
}

#endif
