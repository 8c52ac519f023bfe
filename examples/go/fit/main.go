// SPDX-License-Identifier: MIT OR Apache-2.0

// fit prints the GPUs on which Llama 3.1 8B fits: fit bf16 8192. The exit status is 1 when there is none.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"hypomnesis.invalid/bindings/go"
)

const parameters = 8030261248

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: fit DTYPE TOKENS, for instance fit bf16 8192")
		os.Exit(2)
	}
	bytes, err := estimate(os.Args[1], os.Args[2])
	fitsAnywhere := false
	if err == nil {
		fitsAnywhere, err = checkDevices(bytes)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !fitsAnywhere {
		os.Exit(1)
	}
}

// estimate adds weights as stored, keys and values of each token in 16 bits, and 10 % overhead. The
// values are as large as the keys.
func estimate(dtypeName, tokens string) (uint64, error) {
	dtype, err := hypomnesis.DtypeFromName(dtypeName)
	if err != nil {
		return 0, err
	}
	length, err := strconv.ParseUint(tokens, 10, 64)
	if err != nil {
		return 0, err
	}
	weights, err := hypomnesis.EstimateTensor([]uint64{parameters}, dtype)
	if err != nil {
		return 0, err
	}
	keys, err := hypomnesis.EstimateCache(hypomnesis.Cache{
		Packing: hypomnesis.Packing{Dtype: hypomnesis.DtypeF16}, Layers: 32, KvHeads: 8, RowDim: 128}, length, 1)
	if err != nil {
		return 0, err
	}
	cache, err := hypomnesis.EstimateSum(keys, keys)
	if err != nil {
		return 0, err
	}
	sum, err := hypomnesis.EstimateSum(weights, cache)
	if err != nil {
		return 0, err
	}
	total, err := hypomnesis.EstimateOverhead(sum, 0)
	fmt.Printf("weights: %s\ncache: %s\nwith a tenth more: %s\n", hypomnesis.FormatBytes(weights),
		hypomnesis.FormatBytes(cache), hypomnesis.FormatBytes(total))
	return total, err
}

// checkDevices prints a line for each GPU, and returns whether the model fits on any.
func checkDevices(bytes uint64) (bool, error) {
	hmn, err := hypomnesis.NewContext(&hypomnesis.ContextOptions{Flags: hypomnesis.ContextEnvironment})
	if err != nil {
		return false, err
	}
	defer hmn.Close()
	scan, err := hmn.Scan(context.Background())
	fitsAnywhere := false
	for i := uint32(0); i < scan.Count; i++ {
		fitsAnywhere = fits(hmn, i, bytes) || fitsAnywhere
	}
	return fitsAnywhere, err
}

func fits(hmn *hypomnesis.Context, index uint32, bytes uint64) bool {
	tracker, err := hmn.NewTracker(index, nil)
	answer := false
	if err == nil {
		defer tracker.Close()
		answer, err = tracker.WouldFit(context.Background(), bytes)
	}
	switch {
	case err != nil:
		fmt.Printf("GPU %d: not known\n", index)
	case answer:
		fmt.Printf("GPU %d: fits\n", index)
	default:
		fmt.Printf("GPU %d: does not fit\n", index)
	}
	return answer
}
