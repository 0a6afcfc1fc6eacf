import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newWebhookSecret } from '../alerts/send.ts';
import type { Book } from '../book/book.ts';
import type { Config } from '../config/config.ts';
import { callLimitsOf } from '../domain/call-limits.ts';
import { micro } from '../domain/credits.ts';
import { DEFAULT_SETTINGS } from '../domain/key-settings.ts';
import { hashKey, newKeyValue } from '../domain/key-value.ts';
import { DEMO_EMAIL } from '../domain/people.ts';
import type { Ledger } from '../ledger/ledger.ts';

const CREDITS = micro(1_000_000_000);
const THRESHOLD = micro(100_000_000);

/**
 * Creates the demo account at the first start, with 1,000 credits and one key, and prints at each start a curl line
 * that works as pasted (specification section 1, "npm start"). The data folder stores the key's value, readable by its
 * owner only; other keys are stored only as hashes.
 */
export async function ensureDemoAccount(parts: {
  book: Book;
  ledger: Ledger;
  config: Config;
  url: string;
  /** Where the first person sets up the dashboard; undefined: they have, or nobody may. */
  setupLink?: string | undefined;
  /** Whether somebody signs in as a person. */
  hasPeople?: boolean;
}): Promise<void> {
  const { book, ledger, config, url, setupLink } = parts;
  const { hasPeople } = parts;
  const dashboard = (how: string) =>
    setupLink ?? (hasPeople ? `sign in at ${url}/dashboard/sign-in` : `${url}/dashboard/ (${how})`);
  // Writes the value first, so a start after an interrupted one can continue from there.
  const file = join(config.dataDir, 'demo-key');
  const isFirst = (await book.accounts(0, 1)).length === 0;
  if (!existsSync(file)) {
    if (!isFirst) {
      if (setupLink) process.stdout.write(`Dashboard  ${setupLink}\n`);
      return;
    }
    writeFileSync(file, `${newKeyValue(config.keyPrefix).value}\n`, { mode: 0o600 });
  }
  const key = readFileSync(file, 'utf8').trim();
  if (isFirst) await createDemoAccount(book, ledger, config, key);
  const known = await book.keyByHash(hashKey(key));
  if (known?.hash !== hashKey(key)) {
    const why = known
      ? `The demo key was rotated: ${file} has an earlier value.`
      : `The key in ${file} is not in the book: it was rotated, or belongs to another book.`;
    process.stdout.write(`
Tollgate is running at ${url}

  ${why}
  Dashboard  ${dashboard('sign in with the newest value')}
`);
    return;
  }
  const model = [...config.catalog.values()].find(({ category }) => category === 'text')?.slug ?? 'demo-chat';
  process.stdout.write(`
Tollgate is running at ${url}

  Demo key   ${key}
  Dashboard  ${dashboard('sign in with that key')}

Make a call:

  curl ${url}/v1/chat/completions \\
    -H 'Authorization: Bearer ${key}' \\
    -H 'Content-Type: application/json' \\
    -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'

See what it cost:

  curl ${url}/api/account/ledger/ -H 'Authorization: Bearer ${key}'

Models: ${[...config.catalog.keys()].join(', ')}.
`);
}

async function createDemoAccount(book: Book, ledger: Ledger, config: Config, value: string): Promise<void> {
  const hash = hashKey(value);
  const { account, key } = await book.createAccount(
    {
      email: DEMO_EMAIL,
      alertThreshold: THRESHOLD,
      overdraft: config.accounts.overdraft,
      ...callLimitsOf(config.accounts),
      webhookSecret: newWebhookSecret(),
    },
    {
      hash,
      prefix: value.slice(0, config.keyPrefix.length + 4),
      name: 'demo',
      ...DEFAULT_SETTINGS,
      description: 'Made by npm start',
      canManage: true,
    },
    { id: 'grant_demo', amount: CREDITS, note: 'Demo credits' },
    Date.now(),
  );
  await ledger.publishKey(key, hash);
  for (const grant of await book.pendingGrants(Date.now() + 1, 100)) {
    if (grant.accountId === account.id) await ledger.grant(grant);
  }
}
