import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';

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

const REPEAT_WITHIN_MS = 1_000;

/**
 * Environment of this process with the programs of the dependencies first in PATH, Node among them. With an arena for each
 * thread, glibc keeps 80 MB more of what was freed after a crowd of connections; the image sets the same.
 */
export function toolEnvironment(root, more = {}) {
  const tools = join(root, 'node_modules', '.bin');
  return {
    MALLOC_ARENA_MAX: '2',
    ...process.env,
    PATH: `${tools}${delimiter}${process.env.PATH ?? ''}`,
    ...more,
  };
}

/**
 * Runs the command in the foreground and resolves with its exit code. Signals to this process are passed on to it, so
 * that whoever stops npm waits until the gateway has drained.
 */
export function runToEnd(root, command, args, environment = {}, stdin = 'ignore') {
  const child = spawn(command, args, {
    cwd: root,
    env: toolEnvironment(root, environment),
    stdio: [stdin, 'inherit', 'inherit'],
  });
  let passedAt = Number.NEGATIVE_INFINITY;
  const passOn = (signal) => {
    // A terminal sends its signals to every process in the foreground, so the child has this one already.
    const hasIt = signal !== 'SIGTERM' && process.stdin.isTTY;
    // A signal to a process group comes twice, as npm passes it on too, and the gateway ends at once at a second
    // signal.
    const isRepeat = performance.now() - passedAt < REPEAT_WITHIN_MS;
    if (hasIt || isRepeat) return;
    passedAt = performance.now();
    child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, passOn);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
