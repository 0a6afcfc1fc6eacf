/** Browsers by what their user agents have; one that also names others comes before those. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** Name of a browser and its system, `Firefox on Windows`; a client that is no known browser by its own name. */
export function browserOf(userAgent: string | null): string {
  if (!userAgent) return 'Unknown';
  const [, browser] = BROWSERS.find(([mark]) => userAgent.includes(mark)) ?? [];
  const [, system] = SYSTEMS.find(([mark]) => userAgent.includes(mark)) ?? [];
  if (browser === undefined) return userAgent.split(/[\s/]/, 1)[0] || 'Unknown';
  return system === undefined ? browser : `${browser} on ${system}`;
}
