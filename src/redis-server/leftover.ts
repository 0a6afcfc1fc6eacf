import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Log } from '../log/log.ts';
import { askRedis } from './socket.ts';

const POLL_MS = 25;
const GRACE_MS = 10_000;
const KILLED_WITHIN_MS = 5_000;

/**
 * Ends every server that a killed gateway left behind on this socket, and waits until it is gone (specification section
 * 1: "never doubled"). The gateway can't adopt such a server, because only a parent learns when its child dies. No data
 * is lost: on SIGTERM, Redis writes out its append-only file before it exits.
 *
 * The caller must hold the folder's lock; otherwise this ends the server of a running gateway. Throws Error if a server
 * can't be stopped.
 */
export async function endLeftovers(socketPath: string, log: Log): Promise<void> {
  const pids = await serversOn(socketPath);
  if (pids.length > 0) log.info({ pids }, 'replacing the Redis that an earlier gateway left behind');
  signal(pids, 'SIGTERM');
  if (pids.length > 0 && !(await goneWithin(socketPath, GRACE_MS))) {
    signal(await serversOn(socketPath), 'SIGKILL');
    if (!(await goneWithin(socketPath, KILLED_WITHIN_MS))) {
      throw new Error(`a leftover Redis on ${socketPath} can't be stopped; stop its process by hand`);
    }
  }
  // A server in another container is missing from the process list, but answers on the socket.
  if ((await askRedis(socketPath, 'PING')) === undefined) return;
  await askRedis(socketPath, 'SHUTDOWN NOSAVE');
  const deadline = Date.now() + GRACE_MS;
  while ((await askRedis(socketPath, 'PING')) !== undefined) {
    if (Date.now() > deadline)
      throw new Error(`another Redis is running on ${socketPath} and does not shut down`);
    await sleep(POLL_MS);
  }
}

/**
 * Ids of the Redis and Valkey processes whose command line names the socket. A pid file would miss a server whose
 * gateway died before writing it, and another program could have reused the pid. Redis keeps the socket in its command
 * line when it sets its title. A zombie's command line is empty, so it counts as gone.
 */
export async function serversOn(socketPath: string): Promise<number[]> {
  const found = (await commandLines()).filter(({ command }) => isServerOn(command, socketPath));
  return found.map(({ pid }) => pid);
}

function isServerOn(command: string, socketPath: string): boolean {
  if (!/^(\S*\/)?(redis|valkey)-server\s/.test(command)) return false;
  const at = command.indexOf(socketPath);
  // A longer path that contains this one must not match.
  return (
    at > 0 && /[\s:]/.test(command.charAt(at - 1)) && /^(\s|$)/.test(command.slice(at + socketPath.length))
  );
}

async function commandLines(): Promise<{ pid: number; command: string }[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,command=']);
    return stdout.split('\n').map((line) => {
      const [, pid = '', command = ''] = /^\s*(\d+)\s+(\S.*)$/.exec(line) ?? [];
      return { pid: Number(pid), command };
    });
  }
  // From /proc, because a slim container has no `ps`.
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) => {
      // The process may have ended since the listing.
      const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return { pid: Number(pid), command: text.replaceAll('\0', ' ').trim() };
    }),
  );
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

async function goneWithin(socketPath: string, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while ((await serversOn(socketPath)).length > 0) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
