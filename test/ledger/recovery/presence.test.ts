import { type Test, test } from 'tap';
import type { Book } from '../../../src/book/book.ts';
import { parseRedisUrl, redisAddressText } from '../../../src/config/redis-url.ts';
import { Presence } from '../../../src/ledger/recovery/presence.ts';
import { connectRedis, createRedis } from '../../../src/ledger/redis/connect.ts';
import { UnusableRedis } from '../../../src/ledger/redis/redis-health.ts';
import { rejection } from '../../helper/check/rejection.ts';
import { onPostgres } from '../../helper/start/books.ts';
import { log } from '../../helper/start/ledger.ts';
import { startRedis } from '../../helper/start/redis-process.ts';

/** A gateway of the book on the Redis, as far as it notes where it runs. */
async function gatewayOn(t: Test, book: Book, url: string): Promise<Presence> {
  const address = parseRedisUrl(url);
  const client = createRedis(address, { name: 'test', keyPrefix: `${book.id}:`, log });
  const presence = new Presence({ client, book, address: redisAddressText(address) });
  t.teardown(() => {
    presence.stop();
    client.disconnect();
  });
  await connectRedis(client, 10_000);
  return presence;
}

onPostgres('two gateways on one book with different Redis spent credits twice', async (t, { open }) => {
  const book = await open();
  const [one, other] = await Promise.all([startRedis(t), startRedis(t)]);
  const first = await gatewayOn(t, book, one.url);
  await first.enter();
  first.start();
  await t.resolves((await gatewayOn(t, book, one.url)).enter(), 'another gateway on the same Redis');
  for (const url of [other.url, `${one.url}/1`]) {
    const error = await rejection((await gatewayOn(t, book, url)).enter());
    t.type(error, UnusableRedis);
    const { message } = error as Error;
    t.match(message, `127.0.0.1:${one.port}`);
    t.match(message, url.replace('redis://', ''));
    t.notMatch(message, '\n');
  }
});

onPostgres('after a stop, the gateways of a book move to another Redis at once', async (t, { open }) => {
  const book = await open();
  const [one, other] = await Promise.all([startRedis(t), startRedis(t)]);
  const first = await gatewayOn(t, book, one.url);
  await first.enter();
  await first.leave();
  await t.resolves((await gatewayOn(t, book, other.url)).enter());
});

onPostgres(
  'a gateway that was killed holds up a start on another Redis for 10 s',
  async (t, { open, run }) => {
    const book = await open();
    const [one, other] = await Promise.all([startRedis(t), startRedis(t)]);
    await (await gatewayOn(t, book, one.url)).enter();
    await run('update gateways set seen_at = seen_at - 10000');
    await t.resolves((await gatewayOn(t, book, other.url)).enter());
  },
);

onPostgres('a Redis that came back empty is still the one of its gateways', async (t, { open }) => {
  const book = await open();
  const redis = await startRedis(t);
  const first = await gatewayOn(t, book, redis.url);
  await first.enter();
  first.start();
  await (await redis.connect()).flushall();
  await t.resolves((await gatewayOn(t, book, redis.url)).enter());
});

test('addresses of Redis are shown without credentials', async (t) => {
  const shown = ['redis://u:pw@cache:6379/1', 'unix:///run/redis.sock', 'redis+cluster://u:pw@a:1,b:2'];
  t.same(
    shown.map((url) => redisAddressText(parseRedisUrl(url))),
    ['cache:6379/1', '/run/redis.sock', 'a:1,b:2'],
  );
});
