import { readFileSync } from 'node:fs';

// What the steps of the bootstrap share.

/** Ends the bootstrap with exit code 1; its message is one line that says what to do. */
export class Stop extends Error {}

/** Prints on stderr what the next seconds are spent on. */
export function progress(text) {
  console.error(`tollgate: ${text}`);
}

/** The text of the file; undefined where it cannot be read. */
export function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
