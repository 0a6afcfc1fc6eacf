import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

// Shared by the steps of the bootstrap.

/** Ends the bootstrap with exit code 1; its message is one line that says what to do. */
export class Stop extends Error {}

/** Prints the current step on stderr. */
export function progress(text) {
  console.error(`tollgate: ${text}`);
}

/**
 * Runs a command whose output is this program's stderr, and prints its purpose there: at once, and with the seconds
 * every 3 s while it runs, so that nobody takes a slow step for a hang. On a terminal that is one line that counts.
 * Resolves with the exit status, and with the error if the command cannot be run.
 */
export async function during(text, command, args, options, everyMs = 3_000) {
  const isTerminal = process.stderr.isTTY === true;
  const since = Date.now();
  const say = (end) =>
    process.stderr.write(`${isTerminal ? '\r' : ''}tollgate: ${text}${end}${isTerminal ? '' : '\n'}`);
  say('');
  const ticker = setInterval(
    () => say(` (${Math.round((Date.now() - since) / 1_000)} s)`),
    isTerminal ? Math.min(everyMs, 1_000) : everyMs,
  );
  const child = spawn(command, args, { ...options, stdio: ['ignore', 2, 2] });
  const ended = await new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: null, error }));
    child.on('exit', (status) => resolve({ status, error: undefined }));
  });
  clearInterval(ticker);
  if (isTerminal) process.stderr.write('\n');
  return ended;
}

/** The text of the file; undefined if it cannot be read. */
export function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
