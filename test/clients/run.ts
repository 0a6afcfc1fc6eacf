/**
 * Runs the clients of docs/clients.md against a scripted provider (npm run clients), and writes the table of that page. Exits 1
 * where a client does something else than the page promises, or a ledger row is not the provider's count.
 *
 *   npm run clients -- [--latest] [--no-write] [--verbose] [--case 429 …] [client[@version] …]
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CASES, PLACES, type Result, runCase, WITH_TARGETS } from './cases.ts';
import { type Case, CLIENTS, type Client } from './clients.ts';
import { type Installed, install, type Packages } from './install.ts';
import { endLeftovers } from './launch.ts';
import { brokenPromises, type Row, withRows } from './page.ts';
import { startWorld, type World } from './world.ts';

const PAGE = new URL('../../docs/clients.md', import.meta.url);
const VERSIONS: Readonly<Record<string, Packages>> = JSON.parse(
  readFileSync(new URL('versions.json', import.meta.url), 'utf8'),
);

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    latest: { type: 'boolean', default: false },
    'no-write': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    case: { type: 'string', multiple: true },
  },
});
const cases = CASES.filter((name) => !options.case || options.case.includes(name));
/** How many clients run at once, each with its own gateway and provider. They mostly wait before a repeat. */
const SIDE_BY_SIDE = 3;

const installs = new Map<string, Promise<Installed | Error>>();
const teardowns: (() => unknown)[] = [];
const scope = { teardown: (end: () => unknown) => void teardowns.push(end) };
try {
  process.exitCode = await main();
} finally {
  for (const end of teardowns.reverse()) await end();
}
process.exit();

async function main(): Promise<number> {
  const chosen = chosenClients();
  // Those at the end of the list take longest.
  const waiting = chosen.toReversed();
  const rows: Row[] = [];
  const inTurn = async (world: World) => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      rows.push(await rowOf(world, next.client, await installedOf(next.client, next.version)));
  };
  const lanes: Promise<void>[] = [];
  for (let at = 0; at < Math.min(SIDE_BY_SIDE, chosen.length); at++)
    lanes.push(inTurn(await startWorld(scope)));
  await Promise.all(lanes);
  const page = readFileSync(PAGE, 'utf8');
  const broken = brokenPromises(page, rows);
  if (!options['no-write']) writeFileSync(PAGE, withRows(page, rows));
  for (const line of broken) console.error(line);
  console.error(
    broken.length === 0 ? 'All is as docs/clients.md promises.' : `${broken.length} differences.`,
  );
  return broken.length === 0 ? 0 : 1;
}

/** The named clients, or all. `codex@0.166.0` names another version of its first package. */
function chosenClients(): { client: Client; version: string | undefined }[] {
  if (positionals.length === 0) return CLIENTS.map((client) => ({ client, version: undefined }));
  return positionals.map((named) => {
    const [id, version] = named.split('@');
    const client = CLIENTS.find((one) => one.id === id);
    if (!client) throw new Error(`${id} is not one of ${CLIENTS.map((one) => one.id).join(', ')}`);
    return { client, version };
  });
}

function packagesOf(id: string, version: string | undefined): Packages {
  const packages = VERSIONS[id] ?? {};
  if (version === undefined) return packages;
  const [registry, named] = Object.entries(packages)[0] as [string, Record<string, string>];
  const [first = ''] = Object.keys(named);
  return { ...packages, [registry]: { ...named, [first]: version } };
}

/** Installs a client, once for all rows with the same packages. */
function installedOf({ id, packages = id, name }: Client, version: string | undefined) {
  const known = installs.get(packages);
  if (known) return known;
  console.error(`${name}: installing`);
  const installed = install(packages, packagesOf(packages, version), options.latest).catch((error: Error) => {
    console.error(`${name}: not installed: ${error.message}`);
    return error;
  });
  installs.set(packages, installed);
  return installed;
}

async function rowOf(world: World, client: Client, installed: Installed | Error): Promise<Row> {
  const { id, name } = client;
  const date = new Date().toISOString().slice(0, 10);
  if (installed instanceof Error) {
    return { name, date, version: '', results: {}, notRun: `could not be installed: ${installed.message}` };
  }
  const home = mkdtempSync(join(tmpdir(), `tollgate-client-${id}-`));
  const results: Partial<Record<Case, Result>> = {};
  try {
    for (const one of cases) {
      const place = { folder: installed.folder, home };
      const result = WITH_TARGETS.has(one)
        ? await withTargets((targets) => runCase(targets, client, one, place))
        : await runCase(world, client, one, place);
      results[one] = result;
      console.error(`${name}: ${one} ${result.mark} ${result.note ?? ''}`);
      for (const line of result.differences) console.error(`${name}: ${one}: ledger: ${line}`);
      if (options.verbose) console.error(result.output);
    }
  } finally {
    endLeftovers(home);
    rmSync(home, { recursive: true, force: true });
  }
  return { name, date, version: Object.values(installed.versions).join(', '), results };
}

/** Runs something in its own world, because dead targets do not come back. */
async function withTargets<T>(run: (world: World) => Promise<T>): Promise<T> {
  const ends: (() => unknown)[] = [];
  try {
    return await run(await startWorld({ teardown: (end) => void ends.push(end) }, PLACES));
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
