// Package bootstrap reads and writes lists of peers of whom newcomers may ask the way.
//
// A [List] is signed and dated, so that any mirror serves: a file, a web page, the name system
// ([Load]). Whoever uses one names the keys that it takes lists of ([List.Check]). A list says
// where peers are; it admits nobody to anything.
package bootstrap
