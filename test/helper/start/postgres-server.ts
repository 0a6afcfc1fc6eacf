import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort, MAX_PORTS } from './redis-process.ts';

/** A real PostgreSQL that the tests started, on loopback. */
export interface PostgresServer {
  readonly port: number;
  /** URL of the named database, for the superuser. */
  url(database: string): string;
  /** Stops it and keeps its data. Ends open connections. */
  halt(): Promise<void>;
  /** Starts it again on the same port. */
  resume(): Promise<void>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
}

const USER = 'tollgate';
const PASSWORD = 'correct-horse%battery';

/** The superuser's address of a database on a server that `startPostgres` started on this port. */
export function addressOf(port: number, database: string): string {
  return `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
}

/** `settings` as in postgresql.conf. Throws Error if PostgreSQL is not installed. */
export async function startPostgres(
  settings: Record<string, string> = {},
  tries = 1,
): Promise<PostgresServer> {
  const bin = binaries();
  if (bin === undefined) {
    throw new Error(
      'This needs PostgreSQL 15 or newer: install it (apt-get install postgresql, brew install postgresql).',
    );
  }
  const owner = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pg-'));
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
  if (owner) for (const path of [folder, passwordFile]) chownSync(path, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const init = [
    '-D',
    data,
    '-U',
    USER,
    '--pwfile',
    passwordFile,
    '-A',
    'scram-sha-256',
    '-E',
    'UTF8',
    '--no-sync',
  ];
  execFileSync(join(bin, 'initdb'), init, { ...owner, cwd: folder, stdio: 'pipe' });
  const port = await freePort();
  const start = () => serve(join(bin, 'postgres'), folder, port, owner, settings);
  let process: ChildProcess;
  try {
    process = await start();
  } catch (error) {
    // Another process took the port first. The server's folder is gone with it.
    if (tries === MAX_PORTS || !/Address already in use/.test(String(error))) throw error;
    return await startPostgres(settings, tries + 1);
  }
  return {
    port,
    url: (database) => addressOf(port, database),
    halt: async () => {
      const exited = once(process, 'exit');
      process.stdin?.end('halt\n');
      await exited;
    },
    resume: async () => {
      process = await start();
    },
    stop: async () => {
      const exited = once(process, 'exit');
      process.stdin?.end();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Shell script that runs the server. When standard input closes, it ends the server and removes its folder; that
 * happens whenever this process ends, so a killed test leaves no server behind. A line on standard input ends only the
 * server.
 */
const WATCHED = `
  folder=$1; shift
  exec 3<&0
  "$@" 3<&- </dev/null & server=$!
  { read -r _ <&3 && touch "$folder/halted"; kill -INT "$server" 2>/dev/null; } &
  wait "$server"; status=$?
  rm "$folder/halted" 2>/dev/null || rm -rf "$folder"
  exit "$status"`;

async function serve(
  postgres: string,
  folder: string,
  port: number,
  owner: Owner | undefined,
  more: Record<string, string>,
): Promise<ChildProcess> {
  const settings = {
    ...more,
    listen_addresses: '127.0.0.1',
    lc_messages: 'C',
    unix_socket_directories: '',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [postgres, '-D', join(folder, 'data'), '-p', String(port), ...options];
  const child = spawn('/bin/sh', ['-c', WATCHED, 'sh', folder, ...command], {
    ...owner,
    cwd: folder,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)));
    child.stderr.on('data', (chunk) => {
      log += chunk;
      if (log.includes('ready to accept connections')) resolve();
    });
  });
  child.stderr.removeAllListeners('data').resume();
  return child;
}

export function isPostgresInstalled(): boolean {
  return binaries() !== undefined;
}

function binaries(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** User to run the server as if this process is root, because PostgreSQL refuses to run as root. */
function unprivilegedUser(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // No such user: tries the next name.
    }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as.',
  );
}
