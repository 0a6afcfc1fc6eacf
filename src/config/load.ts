import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { Faults, type Read, text } from '../domain/shape.ts';
import { catalogOf } from './catalog.ts';
import { type Config, LOGGED_CALLS, TRACE_SAMPLERS } from './config.ts';
import { presetOf, withPresets } from './presets.ts';
import { listPath, NO_PROVIDER, outputUnpriced, pricesOf } from './pricing.ts';
import { parseRedisUrl } from './redis-url.ts';
import {
  boolean,
  IN_QUOTES,
  isQuoted,
  matching,
  number,
  oneOf,
  substitute,
  type Used,
} from './references.ts';
import { configFile, NEITHER_PRICED_NOR_FREE } from './schema.ts';
import { SECRET_VARIABLES, secretVariable } from './secrets.ts';
import { drainDelay, host, port, trustedProxy } from './sections.ts';
import { checkRoutes } from './upstream-schema.ts';

const MOST_WORKERS = 256;
const MEBIBYTE = 1_048_576;
const PRIVATE_NETWORKS =
  'ALERTS CAN REACH YOUR OWN NETWORK: alerts.allowPrivateNetworks is true, so anyone with a key can make the ' +
  'gateway send requests to loopback and private addresses. Use it for development and tests only';
const OF_LITELLM =
  "model_list: is LiteLLM's format. Here, write its providers under upstreams and its names under models: see docs/configuration.md";

/** Invalid settings. The message is one line for the operator, with every fault. */
export class ConfigError extends Error {
  /** Each starts with the path of the invalid field. */
  readonly faults: readonly string[];
  /** Source of the faults: the file, as it was named, the environment, or both. */
  readonly origin: string;

  constructor(origin: string, faults: readonly string[]) {
    super(`The configuration (${origin}) is invalid: ${faults.join(' | ')}`);
    this.name = 'ConfigError';
    this.faults = faults;
    this.origin = origin;
  }
}

/**
 * Loads settings from the config file and the environment, which takes precedence (specification section 1). `file`
 * overrides TOLLGATE_CONFIG. Relative paths start at the working directory; that of the price list, at the file's
 * folder. Dated list prices apply as of `now`. Throws ConfigError with every fault at once.
 */
export function loadConfig({
  env,
  file,
  now = new Date(),
}: {
  env: NodeJS.ProcessEnv;
  file?: string;
  now?: Date;
}): Config {
  const path = file ?? (env.TOLLGATE_CONFIG || 'config/gateway.yaml');
  const faults = new Faults();
  const written = readYaml(path, faults);
  if (written instanceof Map && written.has('model_list')) throw new ConfigError(path, [OF_LITELLM]);
  const removed = takeRemoved(written);
  const { tree, unset, used } = substitute(withPresets(written), { env, folder: dirname(path), faults });
  for (const { at, name } of unset) {
    if (at[0] !== 'upstreams' || at.length < 3) {
      faults.add(at.join('.'), `requires the environment variable ${name}, which is not set`);
    }
  }
  const settings = configFile(tree, '', faults);
  checkUpstreamNames(tree, faults);
  checkAliases(tree, faults);
  checkRoutes(settings?.upstreams ?? new Map(), faults);
  if (settings?.mail && settings.server.publicUrl === undefined)
    faults.add('server.publicUrl', 'is missing; mail needs it for its links');
  const isRead = settings !== undefined && faults.lines.length === 0;
  const pricing = isRead ? pricesOf(settings, { configPath: path, now }, faults) : undefined;
  if (!isRead) checkPrices(tree, faults);
  const inFile = faults.lines.map((line) => ({ line, sources: sourcesOf(line, used) }));
  const fromVariables = new Faults();
  const given = readEnvironment(env, fromVariables);
  if (!settings || !pricing || inFile.length > 0 || fromVariables.lines.length > 0) {
    const ofFile = inFile.some(({ sources }) => sources.every(({ isFile }) => isFile));
    const ofEnvironment =
      fromVariables.lines.length > 0 || inFile.some(({ sources }) => sources.some(({ isFile }) => !isFile));
    const origin = [ofFile ? path : '', ofEnvironment ? 'the environment' : ''].filter(Boolean);
    throw new ConfigError(origin.join(' and ') || path, [
      ...inFile.map(({ line, sources }) => {
        const names = [...new Set(sources.map(({ name }) => name))];
        return names.length > 0 ? `${line} (it comes from ${names.join(' and ')})` : line;
      }),
      ...fromVariables.lines,
    ]);
  }

  const { upstreams, catalog, unconfigured, warnings } = catalogOf(settings, unset, pricing);
  return deepFreeze({
    server: {
      host: given.host ?? settings.server.host,
      port: given.port ?? settings.server.port,
      publicUrl: settings.server.publicUrl,
      trustProxy: given.trustProxy ?? settings.server.trustProxy,
      bodyLimitBytes: Math.floor(settings.server.bodyLimitMb * MEBIBYTE),
      headTimeoutMs: settings.server.headTimeoutMs,
      bodyTimeoutMs: settings.server.bodyTimeoutMs,
      keepAliveTimeoutMs: settings.server.keepAliveTimeoutMs,
      drainDelayMs: given.drainDelayMs ?? settings.server.drainDelayMs,
    },
    accounts: settings.accounts,
    calls: settings.calls,
    alerts: settings.alerts,
    origins: settings.origins,
    limits: settings.limits,
    people: settings.people,
    mail: settings.mail,
    pricing: {
      ...settings.pricing,
      list: listPath(settings.pricing.list, path),
      version: pricing.version,
    },
    upstreams,
    catalog,
    unconfigured,
    workers: workersFor(given.workers ?? 1, given.databaseUrl),
    adminToken: given.adminToken,
    metricsToken: given.metricsToken,
    keyPrefix: given.keyPrefix ?? 'sk-tg-',
    logLevel: given.logLevel ?? 'info',
    logCalls: given.logCalls ?? 'failed',
    dataDir: resolve(env.TOLLGATE_DATA || './data'),
    databaseUrl: given.databaseUrl,
    redisUrl: given.redisUrl,
    requireDurableRedis: given.requireDurableRedis ?? false,
    redisWaitReplicas: given.redisWaitReplicas ?? 0,
    redisTimeoutMs: given.redisTimeoutMs,
    tracing: tracingOf(given),
    warnings: [
      ...removed,
      ...warnings,
      ...outputUnpriced(written),
      ...(settings.alerts.allowPrivateNetworks ? [PRIVATE_NETWORKS] : []),
      ...proxyWarnings(
        env,
        [...upstreams.values()].some(({ proxy }) => proxy !== undefined),
      ),
    ],
  });
}

/** Settings of earlier releases, by section and name, with what happens now. */
const REMOVED = [['limits', 'maxQueueMs', 'calls beyond a limit get 429 at once']] as const;

/** Takes removed settings out of the file, so that an upgrade starts. Returns a warning for each. */
function takeRemoved(file: unknown): string[] {
  return REMOVED.flatMap(([section, name, now]) => {
    const settings: unknown = file instanceof Map ? file.get(section) : undefined;
    if (!(settings instanceof Map && settings.delete(name))) return [];
    return [`${section}.${name} no longer exists and has no effect: ${now}. Remove it`];
  });
}

/** Variables of programs that reach providers through a proxy, which the gateway does by its own setting only. */
function proxyWarnings(env: NodeJS.ProcessEnv, hasProxy: boolean): string[] {
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const given = names.filter((name) => env[name]);
  if (given.length === 0 || hasProxy) return [];
  const how = `To use one for calls, set upstreams.<name>.proxy: "\${${given[0]}}"`;
  return [
    `${given.join(' and ')} not used: calls and alerts connect directly to providers and receivers. ${how}`,
  ];
}

/** Environment variables and files that supplied the value with the fault. */
function sourcesOf(fault: string, used: readonly Used[]): Used[] {
  const path = fault.slice(0, fault.indexOf(': '));
  return used.filter(({ at }) => at === path);
}

/**
 * Parses YAML as maps, lists and scalars: maps, because a model may be called `__proto__`. A duplicate key is one fault
 * among the others; the last one counts for the remaining checks.
 */
function readYaml(path: string, faults: Faults): unknown {
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new ConfigError(path, [`the file ${reason}; set TOLLGATE_CONFIG to the file to use`]);
  }
  const lines = new LineCounter();
  const document = parseDocument(source, { uniqueKeys: false, lineCounter: lines });
  if (document.errors.length > 0) {
    // Only the first line: the others quote the file, which may hold secrets.
    const texts = document.errors.map((error) => error.message.split('\n', 1)[0]?.replace(/:$/, '') ?? '');
    throw new ConfigError(path, texts);
  }
  addRepeatedKeys(document.contents, '', { faults, lines });
  return document.toJS({ mapAsMap: true });
}

function addRepeatedKeys(
  node: unknown,
  path: string,
  { faults, lines }: { readonly faults: Faults; readonly lines: LineCounter },
): void {
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      addRepeatedKeys(item, `${path}[${index}]`, { faults, lines });
    }
  }
  if (!isMap(node)) return;
  const first = new Map<string, number>();
  for (const { key, value } of node.items) {
    const name = String(isScalar(key) ? key.value : key);
    const at = path ? `${path}.${name}` : name;
    const line = isNode(key) ? lines.linePos(key.range?.[0] ?? 0).line : 0;
    const before = first.get(name);
    if (before === undefined) first.set(name, line);
    else faults.add(at, `must be set once, but is set in lines ${before} and ${line}`);
    addRepeatedKeys(value, at, { faults, lines });
  }
}

/** Checks that each model names an upstream of the file. Uses the unread tree, so faults elsewhere hide none of these. */
function checkUpstreamNames(tree: unknown, faults: Faults): void {
  const upstreams = tree instanceof Map ? tree.get('upstreams') : undefined;
  const models = tree instanceof Map ? tree.get('models') : undefined;
  if (!(upstreams instanceof Map && models instanceof Map)) return;
  const names = [...upstreams.keys()].map(String);
  for (const [slug, model] of models) {
    for (const { at, name } of upstreamsOf(model)) {
      if (!names.includes(name))
        faults.add(`models.${slug}.${at}`, `must be one of the upstreams: ${names.join(', ')}`);
    }
  }
}

/** Upstreams named by a model of an unread tree, with their positions. */
function upstreamsOf(model: unknown): { at: string; name: string; hasPrice: boolean }[] {
  if (!(model instanceof Map)) return [];
  const targets: unknown = model.get('targets');
  const places: [string, unknown][] = [['upstream', model]];
  if (Array.isArray(targets))
    places.push(...targets.map((target, index): [string, unknown] => [`targets[${index}].upstream`, target]));
  return places.flatMap(([at, place]) => {
    const name: unknown = place instanceof Map ? place.get('upstream') : undefined;
    return typeof name === 'string' ? [{ at, name, hasPrice: (place as typeof model).has('price') }] : [];
  });
}

/** Finds models that no list can price, if other faults prevent loading the list. */
function checkPrices(tree: unknown, faults: Faults): void {
  const upstreams = tree instanceof Map ? tree.get('upstreams') : undefined;
  const models = tree instanceof Map ? tree.get('models') : undefined;
  if (!(upstreams instanceof Map && models instanceof Map)) return;
  for (const [slug, model] of models) {
    if (!(model instanceof Map) || model.has('price') || (model.get('free') ?? false) !== false) continue;
    const places = upstreamsOf(model).flatMap(({ name, hasPrice }): unknown[] =>
      hasPrice ? [] : [upstreams.get(name)],
    );
    if (places.some((upstream) => upstream instanceof Map && !hasListPrices(upstream)))
      faults.add(`models.${slug}.price`, `${NEITHER_PRICED_NOR_FREE}${NO_PROVIDER}`);
  }
}

function hasListPrices(upstream: ReadonlyMap<unknown, unknown>): boolean {
  return upstream.has('prices') || (upstream.has('provider') && !presetOf(upstream.get('provider')));
}

/** Value of a variable; undefined if absent or empty, since `NAME=` in an env file means none. */
function readEnvironment(env: NodeJS.ProcessEnv, faults: Faults) {
  function read<T>(name: string, reader: Read<T>): T | undefined {
    const { value, name: at } = SECRET_VARIABLES.includes(name)
      ? secretVariable(env, name, faults)
      : { value: env[name], name };
    if (value && isQuoted(value)) return faults.add(at, IN_QUOTES);
    return value ? reader(value, at, faults) : undefined;
  }
  return {
    host: read('HOST', host),
    port: read('PORT', port),
    adminToken: read('ADMIN_TOKEN', operatorToken),
    metricsToken: read('METRICS_TOKEN', operatorToken),
    keyPrefix: read(
      'KEY_PREFIX',
      matching(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, "-" or "_"'),
    ),
    trustProxy: read('TRUST_PROXY', (value, path, all) =>
      String(value)
        .split(',')
        .map((range) => trustedProxy(range.trim(), path, all))
        .filter((range) => range !== undefined),
    ),
    logLevel: read('LOG_LEVEL', oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent')),
    logCalls: read('LOG_CALLS', oneOf(...LOGGED_CALLS)),
    redisUrl: read('REDIS_URL', (value, path, all) => {
      try {
        parseRedisUrl(String(value));
        return String(value);
      } catch (error) {
        return all.add(path, (error as Error).message.replace(/^REDIS_URL /, ''));
      }
    }),
    databaseUrl: read(
      'DATABASE_URL',
      text('must be postgres://user:password@host:port/database', (value) =>
        /^postgres(ql)?:\/\//.test(value) && URL.canParse(value) ? value : undefined,
      ),
    ),
    requireDurableRedis: read('REQUIRE_DURABLE_REDIS', boolean),
    redisWaitReplicas: read('REDIS_WAIT_REPLICAS', number(0, 5)),
    redisTimeoutMs: read('REDIS_TIMEOUT_MS', number(1_000, 600_000)),
    drainDelayMs: read('DRAIN_DELAY_MS', drainDelay),
    workers: read('WORKERS', (value, path, all) => {
      const isCount = /^[1-9]\d{0,2}$/.test(String(value)) && Number(value) <= MOST_WORKERS;
      if (!isCount && value !== 'auto') {
        all.add(path, `must be auto or a number of processes from 1 to ${MOST_WORKERS}`);
        return undefined;
      }
      if (isCount && Number(value) > 1 && !env.DATABASE_URL && !env.DATABASE_URL_FILE) {
        all.add(path, 'must be 1 without DATABASE_URL, because SQLite supports one process');
        return undefined;
      }
      return isCount ? Number(value) : ('auto' as const);
    }),
    otlpUrl: read('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl),
    otlpTracesUrl: read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', httpUrl),
    sampler: read('OTEL_TRACES_SAMPLER', oneOf(...TRACE_SAMPLERS)),
    sampleRatio: read('OTEL_TRACES_SAMPLER_ARG', (value, path, all) =>
      number(0, 1, 'decimal')(Number(value), path, all),
    ),
  };
}

/** Short tokens can be guessed. */
const operatorToken = matching(
  /^[\x21-\x7e]{24,}$/,
  'must have at least 24 visible ASCII characters, such as those of: openssl rand -hex 24',
);

/** `auto`: one process per core; one if the book is SQLite. */
function workersFor(workers: number | 'auto', databaseUrl: string | undefined): number {
  if (workers !== 'auto') return workers;
  return databaseUrl === undefined ? 1 : Math.min(availableParallelism(), MOST_WORKERS);
}

const httpUrl = text('must be http://… or https://…', (value) =>
  /^https?:\/\//.test(value) && URL.canParse(value) ? value : undefined,
);

/** The endpoint for all signals is a base URL; the one for traces is complete (OpenTelemetry, "OTLP exporter"). */
function tracingOf(given: ReturnType<typeof readEnvironment>): Config['tracing'] {
  const { otlpUrl, otlpTracesUrl, sampler = 'parentbased_always_on', sampleRatio: ratio = 1 } = given;
  const url = otlpTracesUrl ?? (otlpUrl && `${otlpUrl.replace(/\/$/, '')}/v1/traces`);
  return url === undefined ? undefined : { url, sampler, ratio };
}

/** Freezes objects, lists, and map values; types make the maps read-only. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const item of value instanceof Map ? value.values() : Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}

/** Checks that each alias belongs to one model only. Uses the unread tree, so faults elsewhere hide none of these. */
function checkAliases(tree: unknown, faults: Faults): void {
  const models = tree instanceof Map ? tree.get('models') : undefined;
  if (!(models instanceof Map)) return;
  const owners = new Map<string, string>();
  for (const [slug, model] of models) {
    const aliases: unknown = model instanceof Map ? model.get('aliases') : undefined;
    if (!Array.isArray(aliases)) continue;
    for (const [index, alias] of aliases.entries()) {
      if (typeof alias !== 'string') continue;
      const at = `models.${slug}.aliases[${index}]`;
      const owner = owners.get(alias);
      if (models.has(alias)) faults.add(at, `must not be ${alias}, which is the name of a model`);
      else if (owner === String(slug)) faults.add(at, `must not repeat ${alias}`);
      else if (owner !== undefined) faults.add(at, `must not be ${alias}, which is an alias of ${owner}`);
      else owners.set(alias, String(slug));
    }
  }
}
