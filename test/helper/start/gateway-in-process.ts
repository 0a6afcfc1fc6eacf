import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { newWebhookSecret } from '../../../src/alerts/send.ts';
import type { Config } from '../../../src/config/config.ts';
import { type CallLimits, NO_CALL_LIMITS } from '../../../src/domain/call-limits.ts';
import type { Model } from '../../../src/domain/catalog.ts';
import { micro } from '../../../src/domain/credits.ts';
import type { KeySettings } from '../../../src/domain/key.ts';
import { newKeyValue } from '../../../src/domain/key-value.ts';
import type { LedgerEntry } from '../../../src/domain/ledger-entry.ts';
import { type Served, serve } from '../../../src/program/serve.ts';
import { creditPrice } from '../fixtures/credit-price.ts';
import { type Behave, type ScriptedProvider, startScriptedProvider } from '../stand-ins/scripted-provider.ts';
import { OPEN_KEY } from './ledger-account.ts';
import { REDIS_TIMEOUT_MS } from './redis-process.ts';
import type { Scope } from './scope.ts';

export const ADMIN_TOKEN = 'operator-token-for-the-tests';

export const TEST_SERVER: Config['server'] = {
  host: '127.0.0.1',
  port: 0,
  trustProxy: [],
  bodyLimitBytes: 50 * 1024 * 1024,
  headTimeoutMs: 15_000,
  bodyTimeoutMs: 120_000,
  keepAliveTimeoutMs: 620_000,
  drainDelayMs: 0,
};

const TEST_PRICING: Config['pricing'] = {
  creditsPerUsd: 1_000_000,
  markup: 1_000_000,
  list: undefined,
  unpriced: 'refuse',
  version: undefined,
};

/** For tests that aren't about prices: a unit without a price costs as much as the unit it refines. */
export const UNPRICED_PASSES: Config['pricing'] = { ...TEST_PRICING, unpriced: 'pass' };

export interface TestAccount {
  readonly accountId: number;
  readonly keyId: number;
  /** The key value. */
  readonly key: string;
}

export interface InProcessGateway extends Served {
  readonly provider: ScriptedProvider;
  /** Creates an account with one key and whole `credits`. */
  account(options?: {
    credits?: number;
    threshold?: number;
    /** Default 0. */
    overdraft?: number;
    key?: Partial<KeySettings>;
    email?: string;
  }): Promise<TestAccount>;
  /** Sets the rate limits of an account. Resolves when they are in force. */
  limitAccount(accountId: number, limits: Partial<CallLimits>): Promise<void>;
  /** Sends `POST /v1/chat/completions`. */
  chat(key: string, body?: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
  api(
    method: string,
    path: string,
    token: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** Resolves when every settle is confirmed and the book has all journal entries. */
  settled(): Promise<void>;
}

/**
 * Models at the provider. `flat` costs 1 credit per request. `tokens` costs 1 credit per 1,000 input and 2 per 1,000
 * output tokens. `claude` has the same prices in Anthropic's format, and costs 0.1 per 1,000 tokens read from a cache
 * and 1.25 per 1,000 written.
 */
export function testCatalog(url: string): Config['catalog'] {
  // Headers by which tests choose their provider's answer.
  const passHeaders = ['x-case', 'x-no-usage'];
  const upstream = { name: 'test', url, apiKey: 'upstream-secret', format: 'openai', passHeaders } as const;
  const model = (
    slug: string,
    price: Parameters<typeof creditPrice>[0],
    more: Partial<Model> = {},
  ): [string, Model] => [
    slug,
    {
      slug,
      upstream,
      upstreamModel: slug,
      category: 'text',
      maxOutputTokens: 1_000,
      price: creditPrice(price),
      priceSource: 'config',
      ...more,
    },
  ];
  const anthropic = { ...upstream, name: 'test-anthropic', format: 'anthropic' } as const;
  return new Map([
    model('flat', { request: 1 }),
    model('tokens', {
      input: 1_000,
      cachedInput: 500,
      output: 2_000,
    }),
    model('renamed', { request: 1 }, { upstreamModel: 'upstream-name' }),
    model(
      'claude',
      {
        input: 1_000,
        cachedInput: 100,
        cacheWrite: 1_250,
        output: 2_000,
      },
      { upstream: anthropic },
    ),
    model('claude-flat', { request: 1 }, { upstream: anthropic }),
    model('picture', { image: 1 }, { category: 'image' }),
  ]);
}

export function testConfig(dataDir: string, url: string, overrides: Partial<Config> = {}): Config {
  const catalog = testCatalog(url);
  return {
    server: { ...TEST_SERVER, trustProxy: ['127.0.0.1/32'] },
    calls: { refusalsPerMinute: 20, refusalDays: 30, refusalRows: 1_000_000 },
    logCalls: 'failed',
    accounts: { maxKeys: 130, maxKeyBytes: 33_554_432, overdraft: micro(0), ...NO_CALL_LIMITS },
    alerts: { timeoutMs: 10_000, allowPrivateNetworks: true },
    origins: { allowMissing: false },
    limits: {
      requestTimeoutMs: 60_000,
      headersTimeoutMs: 30_000,
      idleTimeoutMs: 10_000,
      readOnMs: 0,
      hiddenTokensPerSecond: 0,
      imageTokens: 1_000,
      toolRounds: 3,
      toolTokens: 50_000,
      contextTokens: 10_000,
      maxQueueMs: 0,
      waitingCalls: 5_000,
      journalEntries: 1_000_000,
    },
    pricing: TEST_PRICING,
    upstreams: new Map([...catalog.values()].map(({ upstream }) => [upstream.name, upstream])),
    catalog,
    unconfigured: [],
    workers: 1,
    adminToken: ADMIN_TOKEN,
    metricsToken: undefined,
    keyPrefix: 'sk-tg-',
    logLevel: 'silent',
    dataDir,
    databaseUrl: undefined,
    redisUrl: undefined,
    requireDurableRedis: false,
    redisWaitReplicas: 0,
    redisTimeoutMs: REDIS_TIMEOUT_MS,
    tracing: undefined,
    warnings: [],
    ...overrides,
  };
}

/** Starts a whole gateway on a real Redis and book, with a scripted provider. Closes it after the test. */
export async function startGatewayInProcess(
  t: Scope,
  options: {
    behave?: Behave;
    config?: Partial<Config>;
    provider?: ScriptedProvider;
    dataDir?: string;
    /** Time for requests in flight to finish on close; default 30 s. */
    finishWithinMs?: number;
  } = {},
): Promise<InProcessGateway> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'tollgate-'));
  const provider =
    options.provider ?? (await startScriptedProvider(options.behave ? { behave: options.behave } : {}));
  const served = await serve(
    testConfig(dataDir, provider.url, options.config),
    pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
    options.finishWithinMs === undefined ? {} : { finishWithinMs: options.finishWithinMs },
  );
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await served.close();
    if (!options.provider) await provider.close();
  };
  t.teardown(async () => {
    await close();
    if (!options.dataDir) rmSync(dataDir, { recursive: true, force: true });
  });
  return { ...served, provider, close, ...actionsOn(served) };
}

let emails = 0;

function actionsOn(
  served: Served,
): Pick<InProcessGateway, 'account' | 'limitAccount' | 'chat' | 'api' | 'settled'> {
  const { book, url } = served;
  const { ledger } = served.ledger;
  const request = (
    method: string,
    path: string,
    token: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    async account({ credits = 1_000, threshold = 0, overdraft = 0, key: settings = {}, email } = {}) {
      const { value, hash, prefix } = newKeyValue(served.config.keyPrefix);
      const id = `grant_${hash}`;
      const amount = micro(Math.round(credits * 1_000_000));
      const { account, key } = await book.createAccount(
        {
          email: email ?? `owner${emails++}-${process.pid}@example.com`,
          alertThreshold: micro(Math.round(threshold * 1_000_000)),
          overdraft: micro(Math.round(overdraft * 1_000_000)),
          webhookSecret: newWebhookSecret(),
        },
        { ...OPEN_KEY, ...settings, hash, prefix },
        amount > 0 ? { id, amount, note: '' } : null,
        Date.now(),
      );
      await ledger.publishKey(key, hash);
      if (amount > 0) {
        await ledger.grant({
          id,
          accountId: account.id,
          amount,
          type: 'top_up',
          note: '',
          createdAt: Date.now(),
        });
      }
      return { accountId: account.id, keyId: key.id, key: value };
    },
    async limitAccount(accountId, limits) {
      const account = await book.updateAccount(accountId, limits, Date.now());
      if (!account) throw new Error(`there is no account ${accountId}`);
      await ledger.publishAccount(account);
    },
    chat: (key, body = {}, headers) =>
      request(
        'POST',
        '/v1/chat/completions',
        key,
        { model: 'flat', messages: [{ role: 'user', content: 'Hello' }], ...body },
        headers,
      ),
    api: request,
    async settled() {
      await served.ledger.settled();
    },
  };
}

/** Waits until the account's newest entry in the book is a charge, and resolves with it. */
export async function lastCharge(world: InProcessGateway, accountId: number): Promise<LedgerEntry> {
  for (;;) {
    await world.settled();
    const [entry] = await world.book.ledger({ accountId, limit: 1 });
    if (entry?.type === 'charge') return entry;
  }
}
