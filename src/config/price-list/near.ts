/**
 * The known names that are most like `name`, the nearest first, at most `most`; names that are unlike it are left out.
 */
export function nearNames(name: string, known: Iterable<string>, most = 3): string[] {
  const asked = name.toLowerCase();
  const farthest = Math.max(1, Math.floor(asked.length / 3));
  return [...known]
    .map((one) => ({ one, far: distance(asked, one.toLowerCase()) }))
    .filter(({ one, far }) => far <= farthest || one.includes(asked) || asked.includes(one))
    .sort((a, b) => a.far - b.far)
    .slice(0, most)
    .map(({ one }) => one);
}

/** Characters to add, remove or replace to make one text of the other (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
