import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';

const REPEAT_WITHIN_MS = 1_000;

/** This environment, in which the tools of the dependencies come first, Node among them. */
export function toolEnvironment(root, more = {}) {
  const tools = join(root, 'node_modules', '.bin');
  return { ...process.env, PATH: `${tools}${delimiter}${process.env.PATH ?? ''}`, ...more };
}

/**
 * Runs the command in the foreground and gives its exit code when it has ended, by itself or by a signal, which it is
 * sent like this process. So whoever stops npm waits for the gateway to drain.
 */
export function runToEnd(root, command, args, environment = {}, stdin = 'ignore') {
  const child = spawn(command, args, {
    cwd: root,
    env: toolEnvironment(root, environment),
    stdio: [stdin, 'inherit', 'inherit'],
  });
  let passedAt = Number.NEGATIVE_INFINITY;
  const passOn = (signal) => {
    // A terminal sends its signals to every process in the foreground, the child among them.
    const hasIt = signal !== 'SIGTERM' && process.stdin.isTTY;
    // One that is sent to a process group comes twice, as npm passes it on too; the gateway takes a second for "at once".
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
