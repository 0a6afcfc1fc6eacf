import { readFileSync } from 'node:fs';
import { type Command, Redis } from 'ioredis';
import { test } from 'tap';
import { createRedis } from '../../../src/ledger/redis/connect.ts';
import { ScriptSender } from '../../../src/ledger/redis/script-sender.ts';
import { TickWriter } from '../../../src/ledger/redis/tick-writer.ts';
import { until } from '../../helper/check/until.ts';
import { log, startPrivateRedisFor } from '../../helper/start/ledger.ts';

/** Every member of a command that ioredis 6.0.0 reads between sending it and its reply or the end of its connection. */
const MEMBERS = [
  'isTraced',
  'name',
  'pipelineIndex',
  'promise',
  'reject',
  'resolve',
  'setReplyContext',
  'setTimeout',
  'toWritable',
];
const CALL = {
  bucket: 1,
  keys: ['tg:{1}:a:1', 'tg:{1}:k:1', 'tg:{1}:holds'],
  id: 'r',
  numbers: '1 1 1 - d 1',
  record: '',
};

test('ioredis is pinned to the version whose command the batch replaces', async (t) => {
  const read = (path: string) =>
    JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'));
  t.equal(read('package.json').dependencies.ioredis, '6.0.0');
  t.equal(read('package-lock.json').packages[''].dependencies.ioredis, '6.0.0');
  t.equal(read('node_modules/ioredis/package.json').version, '6.0.0');
});

test('a batch has every member that ioredis reads of a command, and no reply is lost', async (t) => {
  const redis = await startPrivateRedisFor(t);
  const client = createRedis(
    { kind: 'socket', path: redis.socketPath },
    { name: 'test', keyPrefix: 'test:', log },
  );
  const pauser = new Redis(redis.socketPath);
  t.teardown(() => {
    pauser.disconnect();
    client.disconnect();
  });
  await client.connect();
  const members = new Set<string>();
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command: Command) => {
    const watched = new Proxy(command, {
      get(target, member) {
        t.ok(member in target, `a command without ${String(member)}`);
        members.add(String(member));
        const value: unknown = Reflect.get(target, member, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    return send(watched);
  };
  const sender = new ScriptSender(client, new TickWriter(client), { now: () => Date.now() });
  const ask = () =>
    new Promise<{ error: Error | null; reply: unknown }>((resolve) =>
      sender.send('admit', CALL, (error, reply) => resolve({ error, reply })),
    );

  const replies = await Promise.all([ask(), ask()]);
  t.same(
    replies.map(({ reply }) => String(reply)),
    ['MISSING', 'MISSING'],
    'each call of a batch has a reply of its own',
  );

  // Redis is paused, so that the connection ends between the command and its reply.
  await pauser.client('PAUSE', 600_000, 'ALL');
  const written = () => (client as Redis).stream.bytesWritten;
  const before = written();
  const cut = ask();
  await until('the command to be sent', () => written() > before);
  client.disconnect();
  t.ok((await cut).error, 'a connection that ends is an error');
  t.ok((await ask()).error, 'so is one that has ended');
  t.same([...members].sort(), MEMBERS);
});
