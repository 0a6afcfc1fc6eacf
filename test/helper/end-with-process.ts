import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Its standard input closes when the process that started it ends, however that ends. */
const WATCH = 'read -r _; kill -9 "$1" 2>/dev/null';

/** Ends the child with this process, also where that is killed: a test that ran out of time leaves nothing behind. */
export function endWithProcess(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'sh', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Out of reach of a Ctrl-C that is meant for this process.
    detached: true,
  });
  watcher.unref();
  // It must not keep this process waiting.
  (watcher.stdin as Socket).unref();
  child.once('exit', () => watcher.kill('SIGKILL'));
}
