// Checks a task proof and the consistency of two seals with the transparency-log code of the Go project.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	var proof struct {
		Key        string `json:"key"`
		Checkpoint string `json:"checkpoint"`
		Entries    []struct {
			Entry json.RawMessage `json:"entry"`
			Proof []string        `json:"proof"`
		} `json:"entries"`
	}
	read(os.Args[1], &proof)
	size, root := open(proof.Key, proof.Checkpoint)
	for _, item := range proof.Entries {
		var entry struct {
			Seq int64 `json:"seq"`
		}
		check(json.Unmarshal(item.Entry, &entry))
		// The file holds the entry in its canonical form, so its bytes are the record.
		if err := tlog.CheckRecord(hashes(item.Proof), size, root, entry.Seq-1, tlog.RecordHash(item.Entry)); err != nil {
			log.Fatalf("entry %d: %v", entry.Seq, err)
		}
	}
	var seals struct {
		Key    string   `json:"key"`
		First  string   `json:"first"`
		Second string   `json:"second"`
		Proof  []string `json:"proof"`
	}
	read(os.Args[2], &seals)
	older, olderRoot := open(seals.Key, seals.First)
	newer, newerRoot := open(seals.Key, seals.Second)
	check(tlog.CheckTree(hashes(seals.Proof), newer, newerRoot, older, olderRoot))
	fmt.Printf("verified: %d entries in a tree of %d, and the seals of %d and %d\n", len(proof.Entries), size, older, newer)
}

func open(key, checkpoint string) (int64, tlog.Hash) {
	verifier, err := note.NewVerifier(key)
	check(err)
	opened, err := note.Open([]byte(checkpoint), note.VerifierList(verifier))
	check(err)
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	return size, hashes(lines[2:3])[0]
}

func hashes(texts []string) []tlog.Hash {
	var all []tlog.Hash
	for _, text := range texts {
		bytes, err := base64.StdEncoding.DecodeString(text)
		check(err)
		var hash tlog.Hash
		if copy(hash[:], bytes) != len(hash) || len(bytes) != len(hash) {
			log.Fatalf("not a hash: %s", text)
		}
		all = append(all, hash)
	}
	return all
}

func read(path string, value any) {
	bytes, err := os.ReadFile(path)
	check(err)
	check(json.Unmarshal(bytes, value))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
