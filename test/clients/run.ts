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
import { CASES, type Result, runCase } from './cases.ts';
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
  const world = await startWorld(scope);
  const rows: Row[] = [];
  for (const { client, version } of chosen) rows.push(await rowOf(world, client, version));
  const page = readFileSync(PAGE, 'utf8');
  const broken = brokenPromises(page, rows);
  if (!options['no-write']) writeFileSync(PAGE, withRows(page, rows));
  for (const line of broken) console.error(line);
  console.error(
    broken.length === 0 ? 'All is as docs/clients.md promises.' : `${broken.length} differences.`,
  );
  return broken.length === 0 ? 0 : 1;
}

/** The clients that are named, or all; `codex@0.166.0` is one at another version of its first package. */
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
  return { [registry]: { ...named, [first]: version } };
}

async function rowOf(world: World, client: Client, version: string | undefined): Promise<Row> {
  const { id, name } = client;
  const date = new Date().toISOString().slice(0, 10);
  let installed: Installed;
  try {
    console.error(`${name}: installing`);
    installed = install(id, packagesOf(id, version), options.latest);
  } catch (error) {
    console.error(`${name}: not installed: ${(error as Error).message}`);
    return {
      name,
      date,
      version: '',
      results: {},
      notRun: `could not be installed: ${(error as Error).message}`,
    };
  }
  const home = mkdtempSync(join(tmpdir(), `tollgate-client-${id}-`));
  const results: Partial<Record<Case, Result>> = {};
  try {
    for (const one of cases) {
      const result = await runCase(world, client, one, { folder: installed.folder, home });
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
