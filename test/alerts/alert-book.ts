import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { newWebhookSecret } from '../../src/alerts/send.ts';
import type { Alert } from '../../src/book/alerts.ts';
import type { Book } from '../../src/book/book.ts';
import type { NewKey } from '../../src/book/keys.ts';
import { openBook } from '../../src/book/open-book.ts';
import { micro } from '../../src/domain/credits.ts';
import { DEFAULT_SETTINGS } from '../../src/domain/key-settings.ts';
import { periodStarts } from '../../src/domain/period.ts';
import { FairPool } from '../../src/shares/fair-pool.ts';

export const EMAIL = 'owner@example.com';
/** What is left after a crossing that `queueCrossing` posts. */
export const BALANCE = 99.5;

/** Permits for `count` POSTs at once, of which one account may have as many as the square root of that. */
export function permitsOf(count: number): FairPool {
  return new FairPool({ places: { all: count, ofOne: Math.min(16, Math.floor(Math.sqrt(count))) } });
}

/** A new data folder that goes when the test ends. */
export async function dataFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-alerts-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The SQLite book in the folder. Default: a new folder. */
export async function openTestBook(t: Test, folder?: string): Promise<Book> {
  const book = await openBook({ dataDir: folder ?? (await dataFolder(t)), databaseUrl: undefined });
  t.teardown(() => book.close());
  return book;
}

export interface Owner {
  readonly accountId: number;
  readonly keyIds: readonly number[];
  readonly webhookSecret: string;
}

/** An account with one key for each webhook address. */
export async function createOwner(book: Book, urls: readonly string[], webhookSecret = newWebhookSecret()) {
  const [first = '', ...others] = urls;
  const account = { email: EMAIL, alertThreshold: micro(100_000_000), webhookSecret };
  const made = await book.createAccount(account, newKey(first), null, Date.now());
  const keyIds = [made.key.id];
  for (const url of others) keyIds.push((await book.createKey(made.account.id, newKey(url), Date.now())).id);
  const owner: Owner = { accountId: made.account.id, keyIds, webhookSecret };
  return owner;
}

/** Posts a debit that crosses the account's threshold, as the journal's drain does. */
export async function queueCrossing(book: Book, owner: Owner): Promise<void> {
  const snapshot = await book.snapshot(owner.accountId, periodStarts(Date.now()));
  if (!snapshot) throw new Error('no such account');
  const { seq, epoch, balance } = snapshot;
  const top = micro((BALANCE + 1) * 1_000_000);
  const common = {
    accountId: owner.accountId,
    createdAt: Date.now(),
    estimated: false,
    epoch,
    day: Math.floor(Date.now() / 86_400_000),
    threshold: top,
  };
  await book.post([
    {
      ...common,
      id: randomUUID(),
      type: 'top_up',
      keyId: null,
      model: null,
      category: null,
      endpoint: null,
      status: null,
      outcome: null,
      usage: {},
      credits: micro(top - balance),
      seq: seq + 1,
      balanceAfter: top,
    },
    {
      ...common,
      id: randomUUID(),
      type: 'charge',
      keyId: owner.keyIds[0] ?? null,
      model: 'demo',
      category: 'text',
      endpoint: '/v1/chat/completions',
      status: 200,
      outcome: 'complete',
      usage: { input: 1 },
      credits: micro(-1_000_000),
      seq: seq + 2,
      balanceAfter: micro(BALANCE * 1_000_000),
    },
  ]);
}

/** The account's only alert. */
export async function onlyAlert(book: Book, owner: Owner): Promise<Alert> {
  const [alert, ...others] = await book.alerts(owner.accountId, 10);
  if (!alert || others.length > 0) throw new Error('not exactly one alert');
  return alert;
}

function newKey(webhookUrl: string): NewKey {
  return {
    hash: randomUUID(),
    prefix: 'sk-tg-test',
    name: 'test',
    ...DEFAULT_SETTINGS,
    canManage: true,
    webhookUrl,
  };
}
