import { CompiledQuery, sql } from 'kysely';
import { VERSION } from '../config/version.ts';
import { gatewayQueries, RUNNING_MS } from './gateways.ts';
import { newBookId } from './initial-schema.ts';
import { EachRow } from './many-rows.ts';
import { migrations } from './migrations.ts';
import type { Engine } from './schema.ts';
import { Store, type Trx } from './store.ts';
import {
  BOOK_FORMAT,
  type BookHead,
  type BookPart,
  columnsOf,
  type Row,
  setLastId,
  TABLES,
  type Table,
  tableParts,
} from './transfer-parts.ts';

/** A book that can't be filled, or parts that can't fill one. The message is for the operator. */
export class CannotLoad extends Error {
  override readonly name = 'CannotLoad';
}

/** What `load` has filled a book with. */
export interface LoadedBook {
  readonly head: BookHead;
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
}

interface LoadOptions {
  /**
   * Gives the book an id of its own, which no Redis knows, and ends what may have ended or been used since the parts were
   * made: sessions, links, and alerts that are to be sent.
   */
  readonly newId: boolean;
  /** Called once, before the first row. */
  onHead?(head: BookHead): void;
}

/** Copies whole books, between the engines too. */
export interface BookTransfer {
  /** Yields the whole book as of one moment. Safe beside running gateways. */
  dump(): AsyncIterable<BookPart>;
  /**
   * Fills the book, in one transaction, and checks that every table reads back as it was. Throws CannotLoad if a gateway
   * runs on it, if it has records, or if the parts are damaged, incomplete or of a newer version. Close it afterwards.
   */
  load(parts: AsyncIterable<BookPart>, options: LoadOptions): Promise<LoadedBook>;
}

export function transferQueries(store: Store): BookTransfer {
  const { db, engine } = store;
  return {
    async *dump() {
      const trx = await db
        .startTransaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute();
      try {
        const names = Object.keys(migrations(engine));
        yield {
          format: BOOK_FORMAT,
          version: VERSION,
          madeAt: new Date().toISOString(),
          migrations: names,
        };
        for (const table of TABLES) yield* tableParts(trx, engine, table);
        yield { complete: true };
      } finally {
        await trx.rollback().execute();
      }
    },

    // Without `store.transaction`, which runs a body again: parts come once.
    load: (parts, options) =>
      db.transaction().execute(async (trx) => {
        await requireUnused(trx, engine);
        const loader = new Loader(trx, engine, options);
        for await (const part of parts) await loader.take(part);
        return loader.loaded();
      }),
  };
}

/** Throws CannotLoad if a gateway runs on the book, or if it has records. None can start on it until the commit. */
async function requireUnused(trx: Trx, engine: Engine): Promise<void> {
  if (engine === 'postgres') await sql`lock table gateways in access exclusive mode`.execute(trx);
  const [running] = await gatewayQueries(new Store(trx, engine)).gatewaysElsewhere('', RUNNING_MS);
  if (running) {
    throw new CannotLoad(
      `A gateway runs on this database, or was killed in the last ${RUNNING_MS / 1000} s (its Redis: ${running.address}). Stop all gateways first.`,
    );
  }
  for (const table of TABLES) {
    if (table === 'identity') continue;
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(trx);
    if (rows.length === 0) continue;
    const remedy =
      engine === 'sqlite'
        ? 'Move book.sqlite, book.sqlite-wal and book.sqlite-shm out of the data folder, or set TOLLGATE_DATA to an empty folder.'
        : 'Rename that database and create an empty one, as docs/operating.md says under "Restore".';
    throw new CannotLoad(`The book already has records (in ${table}), which are not overwritten. ${remedy}`);
  }
}

/** Takes the parts of a book in their order. States: before the head → between tables ⇄ in a table → complete. */
class Loader {
  readonly #trx: Trx;
  readonly #engine: Engine;
  readonly #options: LoadOptions;
  #head: BookHead | undefined;
  #table: Table | undefined;
  #columns: readonly string[] = [];
  /** Tables to come. */
  readonly #missing = new Set<Table>();
  readonly #rows: Record<string, number> = {};
  #isComplete = false;

  constructor(trx: Trx, engine: Engine, options: LoadOptions) {
    this.#trx = trx;
    this.#engine = engine;
    this.#options = options;
  }

  async take(part: BookPart): Promise<void> {
    if (!this.#head) {
      if (!('format' in part)) throw damaged('it does not begin as a backup does');
      await this.#begin(part);
      this.#head = part;
    } else if ('table' in part) await this.#open(part.table, part.columns);
    else if ('rows' in part) await this.#insert(part.rows);
    else if ('end' in part) await this.#end(part);
    else if ('complete' in part) await this.#complete(this.#head);
    else throw damaged('it has an unknown part');
  }

  loaded(): LoadedBook {
    if (!this.#isComplete || !this.#head) throw damaged('its end is missing');
    return { head: this.#head, rows: this.#rows };
  }

  /** Makes the tables as the version of the parts had them. */
  async #begin(head: BookHead): Promise<void> {
    if (head.format !== BOOK_FORMAT)
      throw new CannotLoad('This is no backup that this version of Tollgate knows.');
    const known = migrations(this.#engine);
    const names = Object.keys(known).slice(0, head.migrations.length);
    if (names.join() !== head.migrations.join()) {
      throw new CannotLoad(
        `The backup is of a newer version of Tollgate (${head.version}; this is ${VERSION}). Restore it with that version.`,
      );
    }
    for (const table of ['gateways', ...TABLES.toReversed()])
      await this.#trx.schema.dropTable(table).execute();
    for (const name of names) await known[name]?.up(this.#trx);
    await this.#trx.deleteFrom('identity').execute();
    for (const table of TABLES) {
      const columns = await columnsOf(this.#trx, this.#engine, table);
      if (columns.length > 0) this.#missing.add(table);
    }
    this.#options.onHead?.(head);
  }

  async #open(table: Table, columns: readonly string[]): Promise<void> {
    if (this.#table !== undefined || !this.#missing.has(table))
      throw damaged(`table ${table} is out of place`);
    const own = await columnsOf(this.#trx, this.#engine, table);
    if (own.map(({ name }) => name).join() !== columns.join())
      throw damaged(`table ${table} has other columns`);
    this.#table = table;
    this.#columns = columns;
  }

  async #insert(rows: readonly Row[]): Promise<void> {
    const columns = this.#columns;
    if (rows.some((row) => row.length !== columns.length))
      throw damaged(`a row of table ${this.#table} is not whole`);
    const into = `insert into ${this.#table} (${columns.join(', ')})`;
    if (this.#engine === 'sqlite') {
      const values = `values (${columns.map(() => '?').join(', ')})`;
      await this.#trx.executeQuery(CompiledQuery.raw(`${into} ${values}`, [new EachRow(rows)]));
      return;
    }
    const records = rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])));
    const from = `select ${columns.join(', ')} from json_populate_recordset(null::${this.#table}, $1)`;
    const text = `${into} overriding system value ${from}`;
    await this.#trx.executeQuery(CompiledQuery.raw(text, [JSON.stringify(records)]));
  }

  /** Reads the table back, and compares it with what it was. */
  async #end({ end: table, sum, lastId }: Extract<BookPart, { end: Table }>): Promise<void> {
    if (table !== this.#table) throw damaged(`table ${table} ends out of place`);
    if (lastId !== null) await setLastId(this.#trx, this.#engine, table, lastId);
    for await (const part of tableParts(this.#trx, this.#engine, table)) {
      if (!('end' in part) || (part.sum.rows === sum.rows && part.sum.digest === sum.digest)) continue;
      throw damaged(`table ${table} does not read back as it was saved`);
    }
    this.#rows[table] = sum.rows;
    this.#missing.delete(table);
    this.#table = undefined;
  }

  async #complete({ migrations: done }: BookHead): Promise<void> {
    for (const table of this.#missing) throw damaged(`table ${table} is missing`);
    for (const { up } of Object.values(migrations(this.#engine)).slice(done.length)) await up(this.#trx);
    if (this.#options.newId) await this.#beginAnew();
    this.#isComplete = true;
  }

  async #beginAnew(): Promise<void> {
    await this.#trx.updateTable('identity').set({ id: newBookId() }).execute();
    await this.#trx.deleteFrom('sessions').execute();
    await this.#trx.deleteFrom('one_time_links').execute();
    await this.#trx.deleteFrom('alerts').where('state', '=', 'queued').execute();
  }
}

function damaged(why: string): CannotLoad {
  return new CannotLoad(`The book that was read is damaged: ${why}. Nothing was written.`);
}
