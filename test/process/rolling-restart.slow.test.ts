import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type Test, test } from 'tap';
import { until } from '../helper/check/until.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { type GatewayProcess, makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const LOOK_MS = 50;

interface Backend {
  readonly url: string;
  isReady: boolean;
  readonly agent: Agent;
}

/** A load balancer over HTTP that keeps connections to its backends, follows their /readyz, and repeats nothing. */
interface Balancer {
  readonly url: string;
  add(url: string): void;
  remove(url: string): void;
  /** Number of backends that were ready when they were last asked. */
  ready(): number;
}

async function startBalancer(t: Test): Promise<Balancer> {
  const backends: Backend[] = [];
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const able = backends.filter(({ isReady }) => isReady);
    const backend = able[turn++ % able.length];
    if (backend) pass(backend, incoming, outgoing);
    else outgoing.writeHead(502).end('no backend is ready');
  });
  const looks = setInterval(() => void Promise.all(backends.map(look)), LOOK_MS);
  const url = await listen(server);
  t.teardown(() => {
    clearInterval(looks);
    for (const { agent } of backends) agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  return {
    url,
    add(backend) {
      backends.push({ url: backend, isReady: false, agent: new Agent({ keepAlive: true }) });
    },
    remove(backend) {
      const index = backends.findIndex((known) => known.url === backend);
      if (index >= 0) backends.splice(index, 1)[0]?.agent.destroy();
    },
    ready: () => backends.filter(({ isReady }) => isReady).length,
  };
}

async function look(backend: Backend): Promise<void> {
  const answer = await fetch(`${backend.url}/readyz`).catch(() => undefined);
  await answer?.text();
  backend.isReady = answer?.status === 200;
}

function pass({ url, agent }: Backend, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers, url: path = '' } = incoming;
  const sent = request(`${url}${path}`, { method, headers, agent }, (answer) => {
    // Hop-by-hop headers are about the backend's connection and not about the client's.
    const { connection: _connection, 'keep-alive': _keepAlive, ...rest } = answer.headers;
    outgoing.writeHead(answer.statusCode ?? 502, rest);
    answer.pipe(outgoing);
    answer.on('error', () => outgoing.destroy());
  });
  sent.on('error', (error) => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end(error.message);
  });
  incoming.pipe(sent);
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

test('gateways restarted one after the other behind a load balancer fail no call and break no stream', async (t) => {
  const [redis, DATABASE_URL, provider, balancer] = await Promise.all([
    startRedis(t),
    createDatabase(),
    startScriptedProvider({
      behave: ({ body }) => (body.includes('"stream":true') ? { chunks: 30, intervalMs: 50 } : undefined),
    }),
    startBalancer(t),
  ]);
  t.teardown(() => provider.close());
  const env = { REDIS_URL: redis.url, DATABASE_URL, DRAIN_DELAY_MS: '1500' };
  const start = async () => {
    const gateway = await startGatewayProcess(t, makePlace(t, provider.url, env));
    balancer.add(gateway.url);
    return gateway;
  };
  let gateways: GatewayProcess[] = await Promise.all([start(), start()]);
  const owner = await makeOwner(gateways[0] as GatewayProcess, 1_000_000);
  await until('both to be ready', () => balancer.ready() === 2);

  let isOn = true;
  let ended = 0;
  const failures: string[] = [];
  const call = async (stream: boolean) => {
    const response = await fetch(`${balancer.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'flat', stream, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    const text = await response.text();
    // A busy machine may cut a gateway off from Redis for a second; its message tells it from a stop.
    if (response.status === 503 && text.includes("can't process this call")) return;
    const isWhole = response.status === 200 && (!stream || text.endsWith('data: [DONE]\n\n'));
    if (!isWhole) failures.push(`${response.status} ${text.slice(-200)}`);
    ended++;
  };
  const caller = async (stream: boolean) => {
    while (isOn) await call(stream).catch((error: Error) => failures.push(String(error.cause ?? error)));
  };
  const callers = [false, false, false, false, true, true, true].map(caller);
  for (let restarts = 0; restarts < 2; restarts++) {
    const [old, ...others] = gateways as [GatewayProcess, ...GatewayProcess[]];
    const before = ended;
    await until('calls', () => ended > before + 20);
    const stopping = old.stop();
    await until('the balancer to see it', () => balancer.ready() === 1);
    t.match(await stopping, { code: 0, errors: '' });
    balancer.remove(old.url);
    gateways = [...others, await start()];
    await until('its successor to be ready', () => balancer.ready() === 2);
  }
  isOn = false;
  await Promise.all(callers);
  t.same(failures, []);

  const [gateway] = gateways as [GatewayProcess, ...GatewayProcess[]];
  const { balance } = await balanceOf(gateway, owner);
  t.equal(balance, 1_000_000 - ended, 'each call is charged');
  await until(
    'the ledger to have it all',
    async () => sumOf(await ledgerOf(gateway, owner)) === balance * 1e6,
  );
});

test('a stopping gateway immediately reports not ready and asks clients to close connections', async (t) => {
  const provider = await startScriptedProvider();
  t.teardown(() => provider.close());
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, { DRAIN_DELAY_MS: '5000' }));
  const owner = await makeOwner(gateway, 10);
  const stopping = gateway.stop();
  await until('it to be draining', async () => {
    const response = await fetch(`${gateway.url}/readyz`);
    return response.status === 503 && ((await response.json()) as { status: string }).status === 'draining';
  });
  for (const response of [await gateway.chat(owner.key), await gateway.chat(owner.key, { stream: true })]) {
    t.equal(response.status, 200);
    t.equal(response.headers.get('connection'), 'close');
    await response.text();
  }
  t.match(await stopping, { code: 0 });
});
