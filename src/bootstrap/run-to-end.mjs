import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';

/** This environment, in which the tools of the dependencies come first, Node among them. */
export function toolEnvironment(root, more = {}) {
  const tools = join(root, 'node_modules', '.bin');
  return { ...process.env, PATH: `${tools}${delimiter}${process.env.PATH ?? ''}`, ...more };
}

/**
 * Runs the command in the foreground and gives its exit code when it has ended, by itself or by a signal, which it is
 * sent like this process. So whoever stops npm waits for the gateway to drain.
 */
export function runToEnd(root, command, args, environment = {}) {
  const child = spawn(command, args, {
    cwd: root,
    env: toolEnvironment(root, environment),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const passOn = (signal) => {
    // A terminal sends its signals to every process in the foreground, the child among them.
    const hasIt = signal !== 'SIGTERM' && process.stdin.isTTY;
    if (!hasIt) child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, passOn);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
