import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * Shell script that kills process `$1` when its standard input closes, as it does when this process ends in any way.
 */
const WATCH = 'read -r _; kill -9 "$1" 2>/dev/null';

/**
 * Ends the child with this process, even if that is killed, so that a test that ran out of time leaves nothing behind.
 */
export function endWithProcess(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'sh', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Detached, so that a Ctrl-C meant for this process does not end it.
    detached: true,
  });
  watcher.unref();
  // Must not keep this process alive.
  (watcher.stdin as Socket).unref();
  child.once('exit', () => watcher.kill('SIGKILL'));
}
