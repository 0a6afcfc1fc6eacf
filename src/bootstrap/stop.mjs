/** Ends the bootstrap with exit code 1; its message is one line that says what to do. */
export class Stop extends Error {}

/** Says on stderr what takes time now. */
export function progress(text) {
  console.error(`tollgate: ${text}`);
}
