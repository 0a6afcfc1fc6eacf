import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { progress, Stop } from './shared.mjs';

/**
 * Provides the server of the gateway's private Redis (specification section 1), installing it if that is possible.
 * Throws Stop otherwise.
 */
export function ensureRedis() {
  ensure({
    what: 'Redis or Valkey (redis-server or valkey-server)',
    isThere: () => isOnPath('redis-server') || isOnPath('valkey-server'),
    packages: { 'apt-get': 'redis-server', brew: 'redis', dnf: 'valkey', apk: 'valkey', pacman: 'valkey' },
    otherwise: ', or set REDIS_URL to one that runs elsewhere',
  });
}

/** Provides PostgreSQL's programs, with which the tests start a server of their own. Throws Stop. */
export function ensurePostgres() {
  ensure({
    what: 'PostgreSQL 15 or newer (initdb and postgres)',
    isThere: () => isOnPath('initdb', postgresFolders()),
    packages: {
      'apt-get': 'postgresql',
      brew: 'postgresql@17',
      dnf: 'postgresql-server',
      apk: 'postgresql',
      pacman: 'postgresql',
    },
    otherwise: '',
  });
}

/** Provides Chromium, in which the dashboard is tested. Throws Stop. */
export function ensureChromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const applications = ['Chromium.app/Contents/MacOS', 'Google Chrome.app/Contents/MacOS'];
  const folders = applications.map((name) => join('/Applications', name));
  ensure({
    what: 'Chromium (chromium or google-chrome)',
    isThere: () =>
      names.some((name) => isOnPath(name)) ||
      ['Chromium', 'Google Chrome'].some((name) => isOnPath(name, folders)),
    packages: {
      'apt-get': 'chromium',
      brew: 'chromium',
      dnf: 'chromium',
      apk: 'chromium',
      pacman: 'chromium',
    },
    otherwise: '',
  });
}

/** Folders outside the PATH where Debian and Homebrew put PostgreSQL's programs. */
function postgresFolders() {
  const homebrew = ['/opt/homebrew/opt', '/usr/local/opt'];
  return [
    ...childrenOf('/usr/lib/postgresql').map((version) => join('/usr/lib/postgresql', version, 'bin')),
    ...homebrew.flatMap((folder) =>
      childrenOf(folder)
        .filter((name) => name.startsWith('postgresql@'))
        .map((name) => join(folder, name, 'bin')),
    ),
  ];
}

function ensure({ what, isThere, packages, otherwise }) {
  if (isThere()) return;
  const manager = Object.keys(packages).find((name) => isOnPath(name));
  const install = manager && installation(manager, packages[manager]);
  if (install?.mayRun) {
    progress(`installing ${packages[manager]} with ${manager}`);
    for (const [command, ...args] of install.commands) {
      // The output is shown only if the installation fails; whether the program is there is tested afterwards.
      const { stdout, stderr } = spawnSync(command, args, {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      if (isThere()) return;
      install.output = `${stdout ?? ''}${stderr ?? ''}`;
    }
    console.error(install.output.trim().split('\n').slice(-10).join('\n'));
  }
  const how = install ? `type: ${install.byHand}` : 'install it with the package manager of this system';
  throw new Stop(`Tollgate needs ${what}: ${how}${otherwise}`);
}

/**
 * How to install `name`: the line to type by hand, and the commands to run if this program may (`mayRun`). It may
 * run apt as root or if sudo asks for no password, Homebrew always, as it belongs to the user, and other managers
 * never.
 */
function installation(manager, name) {
  const isRoot = process.getuid?.() === 0;
  if (manager === 'brew') {
    const byHand = `brew install ${name}`;
    return { byHand, mayRun: true, commands: [byHand.split(' ')], output: '' };
  }
  const sudo = isRoot ? '' : 'sudo ';
  if (manager !== 'apt-get') {
    const words = { dnf: 'dnf install', apk: 'apk add', pacman: 'pacman -S' };
    return { byHand: `${sudo}${words[manager]} ${name}`, mayRun: false };
  }
  const mayRun = isRoot || spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
  const apt = [...(isRoot ? [] : ['sudo', '-n']), 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq'];
  return {
    byHand: `${sudo}apt-get install ${name}`,
    mayRun,
    commands: [
      [...apt, 'update'],
      [...apt, 'install', '-y', '--no-install-recommends', name],
    ],
    output: '',
  };
}

function isOnPath(program, more = []) {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...more];
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function childrenOf(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
