import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { test } from 'tap';
import { CallMemory } from '../../../src/gateway/request/call-memory.ts';
import { bodyReceiver, type ReceiverParts } from '../../../src/gateway/request/spool/receive-body.ts';
import { type Spool, SpoolFolder } from '../../../src/gateway/request/spool/spool.ts';
import { makePools, memoryBudget } from '../../../src/shares/pools.ts';

/** A folder whose files are opened only once `ready` is resolved. */
class SlowFolder extends SpoolFolder {
  readonly ready = Promise.withResolvers<void>();

  override async create(): Promise<Spool> {
    await this.ready.promise;
    return await super.create();
  }
}

test('the file of a body stayed when its client left while it was opened', async (t) => {
  const pools = makePools(memoryBudget({ processes: 1 }));
  const spools = new SlowFolder(t.testdir());
  const parts = { bodyLimitBytes: 10_000_000, spools };
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
