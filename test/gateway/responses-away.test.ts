import { test } from 'tap';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

test('a book that is away withholds no answer, and lets nothing of others be named', async (t) => {
  const world = await startOwnGateway(t, { behave: () => undefined });
  const { key } = await world.account();
  const post = (previous_response_id?: string) =>
    world.api('POST', '/v1/responses', key, { model: 'tokens', input: 'Hello', previous_response_id });
  await (await post()).text();
  await world.settled();
  await world.book.close();
  const answer = (await (await post()).json()) as { id: string };
  t.match(answer.id, /^resp_/);
  const next = await post(answer.id);
  t.ok(next.status >= 500, String(next.status));
  t.equal(world.provider.requests.length, 2);
});
