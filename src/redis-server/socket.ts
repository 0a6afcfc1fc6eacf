import { createHash } from 'node:crypto';
import { lstatSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../config/make-folder.ts';

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, including the closing NUL. */
const MAX_SOCKET_PATH_BYTES = 103;
const TEMPORARY_PREFIX = 'tollgate-socket-';
const ANSWER_WITHIN_MS = 1_000;

/**
 * Path of the socket of the private Redis of `folder`: in `folder` itself or, if that path is too long for a socket, in
 * a subfolder of the system's temporary folder, named by a hash of the path. Throws Error if the subfolder belongs to
 * another user.
 */
export function socketPathFor(folder: string): string {
  const beside = join(realpathSync(folder), 'redis.sock');
  if (Buffer.byteLength(beside) <= MAX_SOCKET_PATH_BYTES) return beside;
  const name = `${TEMPORARY_PREFIX}${createHash('sha256').update(beside).digest('hex').slice(0, 16)}`;
  const inTmp = join(tmpdir(), name);
  const short = Buffer.byteLength(inTmp) <= MAX_SOCKET_PATH_BYTES - 11 ? inTmp : join('/tmp', name);
  makeFolder(short);
  // Anyone can create the subfolder first. A socket in another user's folder would give that user the ledger.
  const found = lstatSync(short);
  const isOurs = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  if (!isOurs)
    throw new Error(
      `${short} is not a private folder of this user; remove it, or set TOLLGATE_DATA to a shorter path`,
    );
  return join(short, 'redis.sock');
}

/** Removes the socket of a server that has ended, and its temporary folder if it has one. */
export function removeSocket(socketPath: string): void {
  rmSync(socketPath, { force: true });
  const folder = dirname(socketPath);
  if (basename(folder).startsWith(TEMPORARY_PREFIX)) rmdirSync(folder);
}

/**
 * Sends an inline command and resolves with the first line of the answer, such as `+PONG`. Undefined if no Redis
 * listens, it hangs up, or it stays silent for a second.
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
