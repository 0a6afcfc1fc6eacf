import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Shell script that kills process `$1` when its standard input closes, which happens whenever this process ends. */
const WATCH = 'read -r _; kill -9 "$1" 2>/dev/null';

/** Ends the child with this process, even if this one is killed, so a test that times out leaves nothing behind. */
export function endWithProcess(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'sh', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Detached, so that Ctrl-C doesn't end it.
    detached: true,
  });
  watcher.unref();
  // Doesn't keep this process alive.
  (watcher.stdin as Socket).unref();
  child.once('exit', () => watcher.kill('SIGKILL'));
}
