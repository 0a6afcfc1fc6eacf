/** Longest name for which others are compared: their number and this bound the time. */
const LONGEST = 64;
/** Fewest characters that one name must have to be part of another. */
const LEAST_PART = 3;

/** The known names most similar to `name`, nearest first, at most three; omits dissimilar names. */
export function nearNames(name: string, known: Iterable<string>): string[] {
  const asked = name.toLowerCase();
  if (asked.length > LONGEST) return [];
  const farthest = Math.max(1, Math.floor(asked.length / 3));
  return [...known]
    .flatMap((one) => {
      const lower = one.toLowerCase();
      const isPart = isPartOf(asked, lower) || isPartOf(lower, asked);
      if (!isPart && Math.abs(lower.length - asked.length) > farthest) return [];
      const far = distance(asked, lower);
      return isPart || far <= farthest ? [{ one, far }] : [];
    })
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ one }) => one);
}

function isPartOf(part: string, whole: string): boolean {
  return part.length >= LEAST_PART && whole.includes(part);
}

/** Levenshtein distance in UTF-16 units, in one row: a refused call compares all names of the catalog. */
function distance(from: string, to: string): number {
  const row = new Uint16Array(to.length + 1);
  for (let j = 1; j <= to.length; j++) row[j] = j;
  for (let i = 1; i <= from.length; i++) {
    const unit = from.charCodeAt(i - 1);
    let diagonal = i - 1;
    let left = i;
    row[0] = i;
    for (let j = 1; j <= to.length; j++) {
      const above = row[j] as number;
      left = Math.min(left + 1, above + 1, diagonal + (unit === to.charCodeAt(j - 1) ? 0 : 1));
      row[j] = left;
      diagonal = above;
    }
  }
  return row[to.length] as number;
}
