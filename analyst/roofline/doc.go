// Package roofline computes what a device can do with a model: bytes and operations of a
// step, the time that the slower of memory and arithmetic needs for them, the KV budget,
// and from observed rates how much of the device's peaks is used.
//
// Symbols: L layers, d hidden size, H query heads, G KV heads, h head width, d_ff inner
// size, V vocabulary; w bytes a weight, k bytes a KV element; F peak FLOP/s and BW peak
// bytes/s of one device; η the share of a peak that real kernels reach.
//
// The figures of devices are dated data with sources: see [Devices].
package roofline
