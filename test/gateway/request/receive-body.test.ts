import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { test } from 'tap';
import { CallMemory } from '../../../src/gateway/request/call-memory.ts';
import { bodyReceiver, type ReceiverParts } from '../../../src/gateway/request/spool/receive-body.ts';
import { type Spool, SpoolFolder } from '../../../src/gateway/request/spool/spool.ts';
import { LoopTurns } from '../../../src/shares/loop-turns.ts';
import { makePools, memoryBudget } from '../../../src/shares/pools.ts';

test('of bodies that end together, no turn of the event loop hands on more than two', async (t) => {
  const pools = makePools({ waitingCalls: 10, memory: memoryBudget({ processes: 1 }) });
  const receive = bodyReceiver({ turns: new LoopTurns(), bodyLimitBytes: 1_000 } as ReceiverParts);
  const inTurn = new Map<number, number>();
  let turn = 0;
  const all = Array.from({ length: 6 }, () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const payload = new PassThrough();
    const call = { memory: new CallMemory(pools, 1), compiled: { key: { accountId: 1 } } };
    const request = { headers: { 'content-length': '2' }, call } as unknown as FastifyRequest;
    receive(request, payload, (error, body) => {
      t.error(error);
      t.same(body, Buffer.from('{}'));
      inTurn.set(turn, (inTurn.get(turn) ?? 0) + 1);
      // Longer than the paced work of a turn.
      for (const until = performance.now() + 5; performance.now() < until; );
      resolve();
    });
    payload.end('{}');
    return promise;
  });
  const ended = Promise.all(all).then(() => 'ended');
  while ((await Promise.race([ended, setImmediate('turn')])) === 'turn') turn++;
  t.equal(
    [...inTurn.values()].reduce((sum, bodies) => sum + bodies),
    all.length,
  );
  // The second is prompt work.
  t.ok(
    [...inTurn.values()].every((bodies) => bodies <= 2),
    [...inTurn.values()].join(),
  );
});

/** A folder whose files are opened only once `ready` is resolved. */
class SlowFolder extends SpoolFolder {
  readonly ready = Promise.withResolvers<void>();

  override async create(): Promise<Spool> {
    await this.ready.promise;
    return await super.create();
  }
}

test('the file of a body stayed when its client left while it was opened', async (t) => {
  const pools = makePools({ waitingCalls: 10, memory: memoryBudget({ processes: 1 }) });
  const spools = new SlowFolder(t.testdir());
  const parts = { turns: new LoopTurns(), bodyLimitBytes: 10_000_000, spools };
  const payload = new PassThrough();
  const call = { memory: new CallMemory(pools, 1), compiled: { key: { accountId: 1 } } };
  const received = new Promise((done) => {
    bodyReceiver(parts as unknown as ReceiverParts)(
      { headers: {}, call } as unknown as FastifyRequest,
      payload,
      (error, body) => done(error ?? body),
    );
  });
  payload.write(Buffer.alloc(1_400_000));
  await setImmediate();
  payload.destroy(new Error('the connection was reset'));
  await once(payload, 'close').catch(() => {});
  spools.ready.resolve();
  t.match(await received, { message: 'the connection was reset' });
  t.equal(spools.kept.bodies, 0);
});
