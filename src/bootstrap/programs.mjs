import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { progress, Stop } from './stop.mjs';

/** Specification section 1: the gateway's private Redis. Throws Stop where there is none and none may be installed. */
export function ensureRedis() {
  ensure({
    what: 'Redis or Valkey (redis-server or valkey-server)',
    isThere: () => isOnPath('redis-server') || isOnPath('valkey-server'),
    packages: { 'apt-get': 'redis-server', brew: 'redis', dnf: 'valkey', apk: 'valkey', pacman: 'valkey' },
    otherwise: ', or set REDIS_URL to one that runs elsewhere',
  });
}

/** The tests run against a PostgreSQL of their own: its programs are needed, a running server is not. Throws Stop. */
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

/** The dashboard is tested in a real browser. Throws Stop. */
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

/** Debian and Homebrew keep these programs off the PATH. */
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
      // To be read only where it fails; what is installed or not is seen afterwards.
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

/** apt is used as root or where sudo asks for no password; Homebrew always, as it is the user's own; others never. */
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
