// Package spelling tells what someone may have meant by a word that nobody knows.
package spelling

import "strings"

// Near returns how many letters to add, drop or change make one word the other, 0
// where only case, "_" and "-" differ; false where it is more than two of them, or
// so many that little of a short word stays.
func Near(a, b string) (int, bool) {
	const longest = 100 // the words may come from messages
	if len(a) > longest || len(b) > longest {
		return 0, false
	}
	a, b = letters(a), letters(b)
	most := min(2, min(len(a), len(b))/3)
	n := distance(a, b)
	return n, n <= most
}

// Nearest returns the word that is nearest to another, the first of equal ones, or "".
func Nearest(word string, known []string) string {
	nearest, best := "", -1
	for _, k := range known {
		if n, near := Near(word, k); near && (best < 0 || n < best) {
			nearest, best = k, n
		}
	}
	return nearest
}

func letters(word string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(word))
}

// distance is Levenshtein's, of bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
