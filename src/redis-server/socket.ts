import { createHash } from 'node:crypto';
import { lstatSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../config/make-folder.ts';

/** Longest path of a socket: `sun_path` holds 104 bytes on macOS and 108 on Linux, the closing NUL included. */
const LONGEST_SOCKET_PATH_BYTES = 103;
const TEMPORARY_PREFIX = 'tollgate-socket-';
const ANSWER_WITHIN_MS = 1_000;

/**
 * Path of the socket on which the private Redis of `folder` listens: in `folder` itself, or, if that path is too
 * long for a socket, in a folder of the system's temporary folder, named by a hash of the path. Throws Error if that
 * one belongs to another user.
 */
export function socketPathFor(folder: string): string {
  const beside = join(realpathSync(folder), 'redis.sock');
  if (Buffer.byteLength(beside) <= LONGEST_SOCKET_PATH_BYTES) return beside;
  const name = `${TEMPORARY_PREFIX}${createHash('sha256').update(beside).digest('hex').slice(0, 16)}`;
  const inTmp = join(tmpdir(), name);
  const short = Buffer.byteLength(inTmp) <= LONGEST_SOCKET_PATH_BYTES - 11 ? inTmp : join('/tmp', name);
  makeFolder(short);
  // Anyone can make folders in the temporary one. A socket in another user's folder would give that user the ledger.
  const found = lstatSync(short);
  const isOurs = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  if (!isOurs)
    throw new Error(
      `${short} is not a private folder of this user; remove it, or set TOLLGATE_DATA to a shorter path`,
    );
  return join(short, 'redis.sock');
}

/** Removes the socket of a server that is gone, and the temporary folder that `socketPathFor` made for it. */
export function removeSocket(socketPath: string): void {
  rmSync(socketPath, { force: true });
  const folder = dirname(socketPath);
  if (basename(folder).startsWith(TEMPORARY_PREFIX)) rmdirSync(folder);
}

/**
 * First line of the answer of a Redis on the socket to an inline command, such as `+PONG`; undefined if none
 * listens, it hangs up, or it says nothing for a second.
 */
export function askRedis(socketPath: string, command: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(socketPath, () => socket.write(`${command}\r\n`));
    const end = (line?: string) => {
      socket.destroy();
      resolve(line);
    };
    socket.setTimeout(ANSWER_WITHIN_MS, end);
    socket.on('error', () => end());
    socket.on('close', () => end());
    socket.on('data', (data) => {
      answer += data.toString();
      const line = answer.indexOf('\r\n');
      if (line !== -1) end(answer.slice(0, line));
    });
  });
}
