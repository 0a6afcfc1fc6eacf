import { type ChildProcess, spawn } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { makeFolder } from '../config/make-folder.ts';
import type { Log } from '../log/log.ts';
import { endLeftovers } from './leftover.ts';
import { askRedis, removeSocket, socketPathFor } from './socket.ts';

const POLL_MS = 10;
const FIRST_ANSWER_WITHIN_MS = 30_000;
const SHUTDOWN_WITHIN_MS = 10_000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;
/** Run time after which a server's next restart uses the shortest pause again. */
const STEADY_AFTER_MS = 10_000;
const SQLITE_BUSY = 5;
/** File beside the data while a server may run. A server whose socket somebody removed is found by it. */
const RUNNING_NOTE = 'running';

export interface PrivateRedis {
  readonly socketPath: string;
  /** Shuts the server down after it has written its data; resolves when it is gone. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the gateway's own Redis (specification section 1, "Redis") on a unix socket, with its data in
 * `<dataDir>/redis`, and resolves when it answers. States: starting → up ⇄ down (died; restarts after a growing pause)
 * → stopped.
 *
 * The server has its own session, because Ctrl-C in a terminal must reach only the gateway, which still needs Redis to
 * drain. So the server outlives a killed gateway, and the next start replaces it.
 *
 * Throws RedisServerMissing, or an Error for the operator if another gateway has the folder or the server does not
 * start.
 */
export async function startPrivateRedis(dataDir: string, log: Log): Promise<PrivateRedis> {
  const binary = findRedisServer();
  const folder = join(dataDir, 'redis');
  const lock = lockFolder(folder);
  try {
    const socketPath = socketPathFor(folder);
    const note = join(folder, RUNNING_NOTE);
    // The list of all processes is read only if a server may be left: it takes 20 to 40 ms.
    if (existsSync(note) || existsSync(socketPath)) await endLeftovers(socketPath, log);
    writeFileSync(note, '');
    const server = new RedisChild(binary, folder, socketPath, log);
    await server.start();
    let stopped: Promise<void> | undefined;
    return {
      socketPath,
      // By a second call, the folder may already belong to another gateway.
      stop: () => {
        stopped ??= server
          .stop()
          .then(() => rmSync(note, { force: true }))
          .finally(() => lock.close());
        return stopped;
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Whether a private Redis of the data folder runs, or its gateway was killed: it may have what the book lacks. */
export function wasKilled(dataDir: string): boolean {
  return existsSync(join(dataDir, 'redis', RUNNING_NOTE));
}

const ALONE =
  'REDIS_URL is not set, so this gateway runs a private Redis and must be the only one that uses the database of ' +
  'DATABASE_URL. A second gateway would spend the same credits again: gateways that share a database must share a Redis.';

/**
 * Starts the private Redis of this gateway. Warns if the book is PostgreSQL, which several gateways can share: with a
 * Redis each, two gateways don't see each other's holds, so 10 credits could pay for 20.
 */
export function startPrivateRedisFor(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: Log,
): Promise<PrivateRedis> {
  if (databaseUrl !== undefined) log.warn({}, ALONE);
  return startPrivateRedis(dataDir, log);
}

/**
 * Locks the folder until the result is closed. The lock is an open SQLite transaction, which the operating system drops
 * however the process ends. (A SQLite book has a lock too, but two gateways on PostgreSQL could share a data folder.)
 * Throws Error if another gateway has the lock.
 */
function lockFolder(folder: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    makeFolder(folder);
    lock = new DatabaseSync(join(folder, 'owner.lock'));
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) {
      throw new Error(`the folder ${folder} can't be used for Redis data: ${(error as Error).message}`);
    }
    throw new Error(
      `another gateway uses the Redis data in ${folder}: stop it, or set REDIS_URL so that both share a Redis. Set another TOLLGATE_DATA only for a gateway with its own database`,
    );
  }
}

class RedisChild {
  readonly #binary: string;
  readonly #folder: string;
  readonly #socketPath: string;
  readonly #log: Log;
  #child: ChildProcess | undefined;
  #gone: Promise<void> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;
  #backoffMs = FIRST_BACKOFF_MS;
  /** True from the server's first answer until the stop: if the server ends in between, it is restarted. */
  #watched = false;

  constructor(binary: string, folder: string, socketPath: string, log: Log) {
    this.#binary = binary;
    this.#folder = folder;
    this.#socketPath = socketPath;
    this.#log = log;
  }

  /** Starts the server and resolves when it answers. If it does not, stops it and throws. */
  async start(): Promise<void> {
    this.#spawn();
    process.on('exit', this.#abandon);
    const deadline = Date.now() + FIRST_ANSWER_WITHIN_MS;
    while (this.#child) {
      const answer = await askRedis(this.#socketPath, 'PING');
      if (answer === '+PONG') {
        this.#watched = true;
        return;
      }
      // No time limit while Redis loads: a large append-only file may take minutes.
      if (!answer?.startsWith('-LOADING') && Date.now() > deadline) break;
      await sleep(POLL_MS);
    }
    await this.stop();
    throw new Error(`the private Redis did not start: ${this.#lastLogLine()}`);
  }

  async stop(): Promise<void> {
    this.#watched = false;
    clearTimeout(this.#restart);
    const child = this.#child;
    const impatient = setTimeout(() => child?.kill('SIGKILL'), SHUTDOWN_WITHIN_MS);
    // On SIGTERM, Redis writes out its append-only file before it exits.
    child?.kill('SIGTERM');
    await this.#gone;
    clearTimeout(impatient);
    process.off('exit', this.#abandon);
    removeSocket(this.#socketPath);
  }

  #spawn(): void {
    const output = openSync(join(this.#folder, 'redis.log'), 'a', 0o600);
    const startedAt = Date.now();
    const child = spawn(this.#binary, serverArguments(this.#folder, this.#socketPath), {
      // PATH only, because the gateway's environment holds credentials.
      env: { PATH: process.env.PATH },
      stdio: ['ignore', output, output],
      detached: true,
    });
    closeSync(output);
    this.#child = child;
    this.#gone = new Promise((resolve) => {
      const onGone = (reason: object) => {
        if (this.#child !== child) return;
        this.#child = undefined;
        resolve();
        if (Date.now() - startedAt > STEADY_AFTER_MS) this.#backoffMs = FIRST_BACKOFF_MS;
        if (this.#watched) this.#startAgain(reason);
      };
      child.on('exit', (code, signal) => onGone({ code, signal }));
      child.on('error', (error) => onGone({ reason: error.message }));
    });
  }

  #startAgain(reason: object): void {
    this.#log.error({ ...reason, restartMs: this.#backoffMs }, 'the private Redis ended; restarting it');
    this.#restart = setTimeout(() => {
      try {
        this.#spawn();
      } catch (error) {
        // The server's log can't be opened: the folder is gone, or too many files are open.
        this.#startAgain({ reason: (error as Error).message });
      }
    }, this.#backoffMs);
    this.#backoffMs = Math.min(this.#backoffMs * 2, MAX_BACKOFF_MS);
  }

  /** Ends the server when the process exits without a stop, for example because a later step of the start fails. */
  readonly #abandon = (): void => {
    this.#child?.kill('SIGTERM');
  };

  #lastLogLine(): string {
    const path = join(this.#folder, 'redis.log');
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    return `${lines.at(-1)?.replace(/^\d+:\S+ .*? [.\-*#] /, '') ?? ''} (log: ${path})`;
  }
}

/** Command line of the server: append-only persistence, and no eviction (specification section 1). */
function serverArguments(folder: string, socketPath: string): string[] {
  const settings = {
    port: '0',
    unixsocket: socketPath,
    unixsocketperm: '700',
    dir: folder,
    appendonly: 'yes',
    // A killed Redis loses nothing; a machine that fails loses up to two seconds.
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Valkey speaks the protocol of Redis and takes the same arguments. */
const NAMES = ['redis-server', 'valkey-server'];

/** Thrown if neither server is on the PATH. */
export class RedisServerMissing extends Error {
  constructor() {
    super(
      'Tollgate requires redis-server or valkey-server on the PATH: install one (Debian, Ubuntu: sudo apt-get install redis-server; macOS: brew install redis), or set REDIS_URL to a running Redis',
    );
    this.name = 'RedisServerMissing';
  }
}

/** Finds the server program in the folders of `path`. Throws RedisServerMissing. */
export function findRedisServer(path = process.env.PATH ?? ''): string {
  const folders = path.split(delimiter).filter(Boolean);
  for (const name of NAMES) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutableFile);
    if (found) return found;
  }
  throw new RedisServerMissing();
}

function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
