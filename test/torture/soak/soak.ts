import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pacedLoad } from '../../../bench/paced-load.ts';
import { until } from '../../helper/check/until.ts';
import { makeOwner } from '../../helper/clients/owner.ts';
import { requestsTo } from '../../helper/clients/requests.ts';
import { ADMIN_TOKEN, run } from '../../helper/start/gateway-process.ts';
import { freePorts, startRedis } from '../../helper/start/redis-process.ts';
import type { Scope } from '../../helper/start/scope.ts';
import { checkBalances } from '../checker/check-money.ts';
import { takeSnapshot } from '../checker/snapshot.ts';
import { type Answered, ask } from '../driver/client.ts';
import { BookServers } from '../world/book-server.ts';
import { GatewaySlot } from '../world/gateway-slot.ts';
import { CALL_HEADER } from '../world/upstream.ts';
import { type CallView, checkSoak, PRICES, type SoakCall, summaryOf } from './check-soak.ts';
import { DEATHS, type DeathName, DyingProvider } from './dying-provider.ts';

export interface SoakOptions {
  readonly seconds: number;
  readonly perSecond: number;
  readonly tell?: (line: string) => void;
}

/** Maximum duration of one turn of a provider, which is dead for the first 60 % of it. */
const LONGEST_TURN_MS = 10_000;
const DEAD_SHARE = 0.6;
const ACCOUNTS = 4;
const SESSIONS = 40;
const TURNS = 20;
/** Maximum wait for the head of a stream, and for a whole call: shorter than a dead provider hangs. */
export const HEAD_MS = 1_500;
export const CALL_MS = 4_000;
const DRAIN_MS = 1_000;

/**
 * Runs two gateways on one Redis and one PostgreSQL. Under load, their two providers die and come back in turn,
 * conversations go on, and the gateways restart one after the other. Resolves with the faults and a report.
 */
export async function soak(
  scope: Scope,
  options: SoakOptions,
): Promise<{ faults: string[]; report: string[] }> {
  const { seconds, perSecond, tell = () => {} } = options;
  const [redis, book] = await Promise.all([startRedis(scope), new BookServers(scope).next()]);
  const providers = [new DyingProvider(scope, 'first'), new DyingProvider(scope, 'test')] as const;
  for (const provider of providers) await provider.start();
  const env = {
    ADMIN_TOKEN,
    REDIS_URL: redis.url,
    DATABASE_URL: book.url(book.port),
    DRAIN_DELAY_MS: String(DRAIN_MS),
  };
  const ports = await freePorts(2);
  const places = ports.map((port, index) =>
    makePlace(scope, providers, index, { ...env, PORT: String(port) }),
  );
  const slots = places.map((place, index) => new GatewaySlot(scope, place, index, ports[index] as number));
  scope.teardown(() => {
    for (const slot of slots) slot.abandon();
  });
  await Promise.all(slots.map((slot) => slot.start()));
  const [slot, place] = [slots[0] as GatewaySlot, places[0] as (typeof places)[number]];
  const owners = await Promise.all(
    Array.from({ length: ACCOUNTS }, () => makeOwner(requestsTo(slot.url), 1e9)),
  );

  const calls: SoakCall[] = [];
  const send = async (index: number, session: string, messages: readonly object[], talk?: number) => {
    const id = calls.length + 1;
    const up = slots.filter(({ isUp }) => isUp);
    // Four in a row are of all models, streams and not.
    const { url = '' } = up[(talk ?? Math.floor(index / 4)) % up.length] ?? {};
    const isStream = index % 2 === 0;
    const model = index % 4 < 2 ? 'even' : 'ranked';
    const body = { model, stream: isStream, max_tokens: 100, prompt_cache_key: session, messages };
    const call = {
      id,
      isStream,
      talk,
      bytes: JSON.stringify(body).length,
      startedAt: Date.now(),
      answer: undefined as Answered | undefined,
    };
    calls.push(call);
    const { key: token } = owners[index % ACCOUNTS] as (typeof owners)[number];
    const headers = { [CALL_HEADER]: String(id) };
    call.answer = await ask({
      method: 'POST',
      url: `${url}/v1/chat/completions`,
      token,
      body,
      headers,
    }).catch(
      // No answer is a fault.
      () => undefined,
    );
  };
  const hello = [{ role: 'user', content: 'Hello' }];
  const turnMs = Math.min(LONGEST_TURN_MS, (seconds * 1_000) / (2 * Object.keys(DEATHS).length));
  let isOn = true;
  const deaths = async () => {
    for (let at = 0; isOn; at++) {
      const provider = providers[at % 2] as DyingProvider;
      await provider.die(Object.keys(DEATHS)[Math.floor(at / 2) % 6] as DeathName);
      await sleep(turnMs * DEAD_SHARE);
      await provider.comeBack();
      await sleep(turnMs * (1 - DEAD_SHARE));
    }
  };
  const talks = async (gateway: number) => {
    for (let talk = gateway; isOn; talk += 2) {
      const messages: { role: string; content: string }[] = [];
      for (let turn = 0; turn < TURNS && isOn; turn++) {
        messages.push({ role: 'user', content: `Question ${turn}` });
        // Index 0 modulo 4: the model with equal targets.
        await Promise.all([send(turn * 4, `talk ${talk}`, messages, talk), sleep((turnMs * 2) / TURNS)]);
        messages.push({ role: 'assistant', content: 'An answer.' });
      }
    }
  };
  const restarts = async () => {
    await sleep((seconds * 1_000) / 2);
    for (const each of slots) await each.restart();
    tell('both gateways were restarted');
  };
  const around = [deaths(), talks(0), talks(1), restarts()];
  await pacedLoad({ perSecond, seconds, send: (index) => send(index, `session ${index % SESSIONS}`, hello) });
  isOn = false;
  await Promise.all(around);
  tell(`${calls.length} calls were made`);

  const raw = await redis.connect();
  const address = { databaseUrl: env.DATABASE_URL, dataDir: place.dataDir };
  let snapshot = await takeSnapshot(address, raw);
  await until('the ledger to be in the book', async () => {
    snapshot = await takeSnapshot(address, raw);
    return snapshot.leftovers.length === 0;
  });
  const views: CallView[] = [];
  for (const { accountId } of owners) {
    const path = `/api/admin/accounts/${accountId}/calls/?format=jsonl`;
    const text = await (await requestsTo(slot.url).api('GET', path, ADMIN_TOKEN)).text();
    for (const line of text.trim().split('\n')) views.push(JSON.parse(line) as CallView);
  }
  const reconciled = [
    await run('cli.js', place.env, ['reconcile']),
    await run('cli.js', place.env, ['reconcile', '--charges']),
  ];
  const ended = await Promise.all(slots.map((each) => each.stop()));
  const seen = { calls, providers, rows: snapshot.ledger, views };
  const faults = [
    ...checkSoak(seen),
    ...checkBalances(snapshot),
    ...slots.flatMap(({ crashes }) => crashes),
    ...ended
      .filter(({ code }) => code !== 0)
      .map(({ code, errors }) => `a gateway ended with ${code}: ${errors}`),
    ...reconciled
      .filter(({ code }) => code !== 0)
      .map(({ output, errors }) => `reconcile: ${output}${errors}`),
  ];
  return { faults, report: [...summaryOf(seen), ...reconciled.map(({ output }) => output.trim())] };
}

function makePlace(scope: Scope, providers: readonly DyingProvider[], index: number, env: NodeJS.ProcessEnv) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-soak-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const upstreams = providers.map(({ name, url }) => {
    return [name, { url, apiKey: `key-of-${name}`, format: 'openai', passHeaders: [CALL_HEADER] }];
  });
  const model = (priorities: readonly number[]) => ({
    category: 'text',
    maxOutputTokens: 100,
    reasons: false,
    targets: providers.map(({ name }, at) => ({
      upstream: name,
      priority: priorities[at],
      price: PRICES[name],
    })),
  });
  const config = {
    limits: { headersTimeoutMs: HEAD_MS, requestTimeoutMs: CALL_MS },
    upstreams: Object.fromEntries(upstreams),
    models: { even: model([1, 1]), ranked: model([1, 2]) },
  };
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, JSON.stringify(config));
  const dataDir = join(folder, `data-${index}`);
  return { dataDir, env: { TOLLGATE_CONFIG: file, TOLLGATE_DATA: dataDir, REDIS_TIMEOUT_MS: '', ...env } };
}
