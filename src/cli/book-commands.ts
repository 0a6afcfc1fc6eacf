import { createReadStream, createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readBackup, writeBackup } from '../book/backup-file.ts';
import type { Book } from '../book/book.ts';
import { type BookPlace, openBook } from '../book/open-book.ts';
import type { LoadedBook } from '../book/transfer.ts';
import type { BookPart } from '../book/transfer-parts.ts';
import { loadConfig } from '../config/load.ts';
import { wasKilled } from '../redis-server/server.ts';
import { Failure, fromCaller, secret } from './arguments.ts';
import { io } from './io.ts';
import { print, printJson } from './print.ts';

interface Options {
  readonly json?: true;
}

/** `tollgate backup`, `restore` and `book copy`: use the book itself, with the environment of the gateway. */
export function bookCommands(program: Command): void {
  program
    .command('backup')
    .description(
      "write the whole book to a file, beside running gateways; run it with the gateway's environment",
    )
    .argument('<file>', 'new file, readable by you alone; - writes to stdout')
    .action(backup);
  program
    .command('restore')
    .description(
      'fill an empty book, SQLite or PostgreSQL, from a backup of either, and give it a new identity; stop all gateways first',
    )
    .argument('<file>', 'file of `tollgate backup`; - reads stdin')
    .option('--json', 'print JSON')
    .action(restore);
  program
    .command('book')
    .description('the book: the database of record')
    .command('copy')
    .description(
      'copy the SQLite book of the data folder to an empty PostgreSQL database; stop the gateway first',
    )
    .argument('<url>', 'postgres://user:password@host:5432/database; - reads it from stdin')
    .option('--json', 'print JSON')
    .action(copy);
}

async function backup(file: string): Promise<void> {
  await withBook(place(), { readOnly: true }, async (book) => {
    if (file === '-')
      return await writeBackup(book.dump(), createWriteStream('', { fd: 1, autoClose: false }));
    const path = fromCaller(file);
    if (existsSync(path)) throw new Failure(`${path} exists. Name a new file.`);
    // A file of the given name is always whole.
    const unfinished = `${path}.unfinished`;
    try {
      await writeBackup(book.dump(), createWriteStream(unfinished, { mode: 0o600, flush: true }));
      renameSync(unfinished, path);
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
    print(`Wrote ${path}. Keep it as a secret: it contains webhook secrets.`);
  });
}

async function restore(file: string, options: Options): Promise<void> {
  const at = place();
  if (at.databaseUrl === undefined) requireOwner(at.dataDir);
  const open = () =>
    file === '-' ? createReadStream('', { fd: 0, autoClose: false }) : createReadStream(fromCaller(file));
  const loaded = await fill(at, readBackup(open), true);
  if (options.json) return printJson(summaryOf(loaded));
  print(`Restored the book of ${loaded.head.madeAt}: ${countsOf(loaded)}.`);
  print(
    'Top-ups, new keys and revocations since then are gone: repeat them. The book has a new identity in Redis.',
  );
  print('Next: start the gateways, then run `tollgate reconcile`.');
}

/** What root makes in the folder of a service's user, the service could not open. */
function requireOwner(dataDir: string): void {
  if (process.getuid?.() !== 0 || !existsSync(dataDir)) return;
  const { uid } = statSync(dataDir);
  if (uid !== 0)
    throw new Failure(`${dataDir} belongs to the user with the id ${uid}. Run this command as that user.`);
}

async function copy(given: string, options: Options): Promise<void> {
  const databaseUrl = secret(given, 'The URL of the PostgreSQL database is missing.');
  const source = place();
  if (source.databaseUrl !== undefined) {
    throw new Failure(
      'DATABASE_URL is set, so the book is not SQLite. Unset it, or use `tollgate backup` and `tollgate restore`.',
    );
  }
  if (wasKilled(source.dataDir)) {
    throw new Failure(
      `The last gateway on ${source.dataDir} was killed or still runs, so its Redis may have charges that the book lacks. Start it once, stop it, then copy.`,
    );
  }
  // Opening it as its owner would make a missing book.
  await withBook(source, { readOnly: true }, async () => {});
  const loaded = await withBook(source, {}, (book) => fill({ ...source, databaseUrl }, book.dump(), false));
  if (options.json) return printJson(summaryOf(loaded));
  print(`Copied the book: ${countsOf(loaded)}. Every table reads back the same.`);
  print('Next: set DATABASE_URL to the new database, start the gateway, then run `tollgate reconcile`.');
  print(
    `Start no gateway on ${join(source.dataDir, 'book.sqlite')} again: it would spend the same credits twice.`,
  );
}

function place(): BookPlace {
  const { databaseUrl, dataDir } = loadConfig({ env: io().env });
  return { databaseUrl, dataDir };
}

/** Fills the book at a place. Reports the head on stderr, because the rest may take long. */
function fill(at: BookPlace, parts: AsyncIterable<BookPart>, newId: boolean): Promise<LoadedBook> {
  const onHead = ({ madeAt, version }: { madeAt: string; version: string }) =>
    io().stderr.write(`tollgate: writing the book of ${madeAt}, by Tollgate ${version}\n`);
  return withBook(at, { isPatient: true }, (book) => book.load(parts, { newId, onHead }));
}

async function withBook<Result>(
  at: BookPlace,
  options: { readOnly?: boolean; isPatient?: boolean },
  use: (book: Book) => Promise<Result>,
): Promise<Result> {
  const book = await openBook(at, options);
  try {
    return await use(book);
  } finally {
    await book.close();
  }
}

function summaryOf({ head, rows }: LoadedBook) {
  return { made_at: head.madeAt, version: head.version, rows };
}

function countsOf({ rows }: LoadedBook): string {
  const { accounts = 0, keys = 0, ledger = 0, ...others } = rows;
  const rest = Object.values(others).reduce((sum, count) => sum + count, 0);
  return `${accounts} accounts, ${keys} keys, ${ledger} ledger entries, ${rest} other records`;
}
