import { test } from 'tap';
import { BucketOwners } from '../../../src/ledger/redis/bucket-owners.ts';
import { connectRedis, createRedis } from '../../../src/ledger/redis/connect.ts';
import { holdsRedisKey } from '../../../src/ledger/redis/redis-keys.ts';
import { ReplicaWait } from '../../../src/ledger/redis/replica-wait.ts';
import { until } from '../../helper/check/until.ts';
import { log } from '../../helper/start/ledger.ts';
import { startRedis } from '../../helper/start/redis-process.ts';

test('a node that took over without the hold of a call does not confirm it, though its replica has all that it has', async (t) => {
  const master = await startRedis(t);
  await startRedis(t, { replicaof: `127.0.0.1 ${master.port}` });
  const client = createRedis({ kind: 'single', url: master.url }, { name: 'replicas', keyPrefix: '', log });
  t.teardown(() => client.disconnect());
  await connectRedis(client, 10_000);
  await until('the replica to be there', async () => (await client.wait(1, 1)) === 1);
  const owners = new BucketOwners(client);
  const replicas = new ReplicaWait(owners, owners, 1);
  await client.hset(holdsRedisKey(3), 'req_held', '1 2 3 4 5 1 text /v1 m');
  let lost: unknown;
  // A replica on a busy machine may take longer than one round waits.
  await until('the replica to have the hold', async () => {
    const confirmed = replicas.confirm(3, 'req_held').then(
      () => true,
      () => false,
    );
    // In the same round, so that only the hold can tell.
    lost = await replicas.confirm(3, 'req_lost').catch((error: unknown) => error);
    return await confirmed;
  });
  t.match(lost, { message: /does not have the hold/ });
  await t.rejects(replicas.confirm(4, 'req_held'), { message: /does not have the hold/ });
});
