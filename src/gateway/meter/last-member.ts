/**
 * The value of the last member of that name in a piece of JSON text whose start is missing; undefined where there is
 * none or it is cut off. Only objects are found.
 */
export function lastMember(text: string, name: string): unknown {
  const at = text.lastIndexOf(`"${name}"`);
  const open = at < 0 ? -1 : text.indexOf('{', at);
  if (open < 0 || !/^\s*:\s*$/.test(text.slice(at + name.length + 2, open))) return undefined;
  // Usage objects hold no strings with braces; each closing brace is tried until the text parses.
  for (let close = text.indexOf('}', open); close >= 0; close = text.indexOf('}', close + 1)) {
    try {
      return JSON.parse(text.slice(open, close + 1));
    } catch {
      // Not the matching brace yet.
    }
  }
  return undefined;
}
