import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';

const REPEAT_WITHIN_MS = 1_000;

/** Environment of this process with the programs of the dependencies first in PATH, Node among them. */
export function toolEnvironment(root, more = {}) {
  const tools = join(root, 'node_modules', '.bin');
  return { ...process.env, PATH: `${tools}${delimiter}${process.env.PATH ?? ''}`, ...more };
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
