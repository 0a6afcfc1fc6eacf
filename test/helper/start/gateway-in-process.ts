import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { t as ofProcess } from 'tap';
import type { Config } from '../../../src/config/config.ts';
import { type CallLimits, NO_CALL_LIMITS } from '../../../src/domain/call-limits.ts';
import type { Model } from '../../../src/domain/catalog.ts';
import { micro } from '../../../src/domain/credits.ts';
import type { LedgerEntry } from '../../../src/domain/ledger-entry.ts';
import { type Served, serve } from '../../../src/program/serve.ts';
import { ADMIN_TOKEN, type Requests, requestsTo } from '../clients/requests.ts';
import { creditPrice } from '../fixtures/credit-price.ts';
import { type Behave, type ScriptedProvider, startScriptedProvider } from '../stand-ins/scripted-provider.ts';
import { type AccountOptions, accountOn } from './ledger-account.ts';
import { REDIS_TIMEOUT_MS } from './redis-process.ts';
import type { Scope } from './scope.ts';

export { ADMIN_TOKEN };

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

export interface InProcessGateway extends Omit<Served, 'close'>, Requests {
  readonly provider: ScriptedProvider;
  /** Creates an account with one key, and 1,000 credits unless `options` says otherwise. */
  account(options?: AccountOptions): Promise<TestAccount>;
  /** Sets the rate limits of an account. Resolves when they are in force. */
  limitAccount(accountId: number, limits: Partial<CallLimits>): Promise<void>;
  /** Resolves when every settle is confirmed and the book has all journal entries. */
  settled(): Promise<void>;
}

/** A gateway that no other test uses. */
export interface OwnGateway extends InProcessGateway, Pick<Served, 'close'> {}

/** Settings of a shared gateway. Redis and the database must last as long as it does. */
type SharedSettings = Omit<Partial<Config>, 'dataDir' | 'redisUrl' | 'databaseUrl' | 'tracing'>;

/**
 * Models at the provider. `flat` costs 1 credit per request. `tokens` costs 1 credit per 1,000 input and 2 per 1,000
 * output tokens. `claude` has the same prices in Anthropic's format, and costs 0.1 per 1,000 tokens read from a cache
 * and 1.25 per 1,000 written.
 */
export function testCatalog(url: string): Config['catalog'] {
  // Headers by which tests choose their provider's answer.
  const passHeaders = ['x-case', 'x-no-usage'];
  const passResponseHeaders = ['x-kept'];
  const upstream = {
    name: 'test',
    url,
    apiKey: 'upstream-secret',
    format: 'openai',
    passHeaders,
    passResponseHeaders,
  } as const;
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

function upstreamsOf(catalog: Config['catalog']): Config['upstreams'] {
  return new Map([...catalog.values()].map(({ upstream }) => [upstream.name, upstream]));
}

export function testConfig(dataDir: string, url: string, overrides: Partial<Config> = {}): Config {
  const catalog = testCatalog(url);
  return {
    server: { ...TEST_SERVER, trustProxy: ['127.0.0.1/32'] },
    calls: { refusalsPerMinute: 20, refusalDays: 30, refusalRows: 1_000_000 },
    logCalls: 'failed',
    accounts: { maxKeys: 130, maxKeyBytes: 33_554_432, overdraft: micro(0), ...NO_CALL_LIMITS },
    alerts: { timeoutMs: 10_000, allowPrivateNetworks: true, allow: [] },
    origins: { allowMissing: false },
    people: { passwords: true, auditDays: 400, oidc: [] },
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
      waitingCalls: 5_000,
      journalEntries: 1_000_000,
    },
    pricing: TEST_PRICING,
    upstreams: upstreamsOf(catalog),
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

/** Gateways of this process by their settings, without their catalogs. */
const shared = new Map<string, Promise<SharedGateway>>();

/**
 * Resolves with a whole gateway on a real Redis and book, and a scripted provider for this test. The gateway has the
 * catalog of the test until the test ends. The tests of a process, which run one after the other, share a gateway if
 * they have the same other settings: a start takes 160 ms of processor time.
 */
export async function startGatewayInProcess(
  t: Scope,
  options: { behave?: Behave; provider?: ScriptedProvider; config?: SharedSettings } = {},
): Promise<InProcessGateway> {
  const provider = options.provider ?? (await startProviderFor(t, options.behave));
  const { config = {} } = options;
  const { catalog = testCatalog(provider.url), upstreams = upstreamsOf(catalog), ...settings } = config;
  const name = inspect(settings, { depth: null });
  const started = shared.get(name) ?? SharedGateway.start(settings);
  shared.set(name, started);
  const gateway = await started;
  return { ...(await gateway.lend(t, { catalog, upstreams })), provider };
}

/** A gateway, and the configuration that it has now. */
class SharedGateway {
  readonly #world: InProcessGateway;
  #config: Config;

  static async start(settings: SharedSettings): Promise<SharedGateway> {
    return new SharedGateway(
      await startOwnGateway(ofProcess, { config: { ...settings, catalog: new Map() } }),
    );
  }

  constructor(world: InProcessGateway) {
    this.#world = world;
    this.#config = world.config;
  }

  async lend(t: Scope, models: Pick<Config, 'catalog' | 'upstreams'>): Promise<InProcessGateway> {
    const before = this.#config;
    t.teardown(() => this.#replaceCatalog(before));
    const config = { ...before, ...models };
    await this.#replaceCatalog(config);
    return { ...this.#world, config, replaceCatalog: (next) => this.#replaceCatalog(next) };
  }

  async #replaceCatalog(config: Config): Promise<void> {
    this.#config = config;
    await this.#world.replaceCatalog(config);
  }
}

/**
 * Starts a gateway for a test that closes it, breaks its servers, or counts what all accounts or targets have. Closes
 * it after the test.
 */
export async function startOwnGateway(
  t: Scope,
  options: {
    behave?: Behave;
    config?: Partial<Config>;
    provider?: ScriptedProvider;
    dataDir?: string;
    /** Time for requests in flight to finish on close; default 30 s. */
    finishWithinMs?: number;
    setupCode?: string;
  } = {},
): Promise<OwnGateway> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'tollgate-'));
  const provider = options.provider ?? (await startProviderFor(t, options.behave));
  const served = await serve(
    testConfig(dataDir, provider.url, options.config),
    pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
    {
      setupCode: options.setupCode,
      ...(options.finishWithinMs === undefined ? {} : { finishWithinMs: options.finishWithinMs }),
    },
  );
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= served.close();
    return closed;
  };
  t.teardown(async () => {
    await close();
    if (!options.dataDir) rmSync(dataDir, { recursive: true, force: true });
  });
  return { ...served, provider, close, ...actionsOn(served) };
}

async function startProviderFor(t: Scope, behave: Behave | undefined): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider({ behave });
  t.teardown(() => provider.close());
  return provider;
}

function actionsOn({
  book,
  url,
  ledger,
}: Served): Requests & Pick<InProcessGateway, 'account' | 'limitAccount' | 'settled'> {
  return {
    ...requestsTo(url),
    async account(options) {
      const { account, key, value } = await accountOn(book, ledger.ledger, { credits: 1_000, ...options });
      return { accountId: account.id, keyId: key.id, key: value };
    },
    async limitAccount(accountId, limits) {
      const account = await book.updateAccount(accountId, limits, Date.now());
      if (!account) throw new Error(`there is no account ${accountId}`);
      await ledger.ledger.publishAccount(account);
    },
    settled: () => ledger.settled(),
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
