import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Names of the programs that will do: Valkey speaks Redis' protocol and takes its arguments. */
const NAMES = ['redis-server', 'valkey-server'];

/** Thrown if neither server is on the PATH. The message is one line that says what to type. */
export class RedisServerMissing extends Error {
  constructor() {
    super(
      'Tollgate requires redis-server or valkey-server on the PATH: install one (Debian, Ubuntu: sudo apt-get install redis-server; macOS: brew install redis), or set REDIS_URL to a running Redis',
    );
    this.name = 'RedisServerMissing';
  }
}

/** Absolute path of the server to start, searched in `path`. Throws RedisServerMissing. */
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
