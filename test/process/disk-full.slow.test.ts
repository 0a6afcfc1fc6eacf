import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { startRedis } from '../helper/start/redis-process.ts';

/** A small file system that a test can fill. */
interface SmallDisk {
  readonly folder: string;
  /** Fills all free space. */
  fill(): void;
  /** Frees that space again. */
  clear(): void;
}

/** False if this user may mount a file system, else the reason for skipping a test: only root may, and on Linux. */
function whyNoSmallDisk(): string | false {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  try {
    mount(folder, 1);
    execFileSync('umount', [folder], { stdio: 'pipe' });
    return false;
  } catch {
    return 'needs the right to mount a file system (root on Linux)';
  } finally {
    rmdirSync(folder);
  }
}

function mount(folder: string, megabytes: number): void {
  const options = `size=${megabytes}m,mode=0777`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' });
}

/** Mounts a file system of `megabytes`, which is unmounted with the test. */
function mountSmallDisk(t: Test, megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  mount(folder, megabytes);
  t.teardown(() => {
    // Lazily, because a server that is just ending may still have a file open.
    execFileSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  });
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      for (let part = 0; ; part++) {
        try {
          writeFileSync(`${filler}-${part}`, Buffer.alloc(64 * 1024));
        } catch {
          break;
        }
      }
    },
    clear() {
      execFileSync('sh', ['-c', `rm -f "${filler}"-*`]);
    },
  };
}

const skip = whyNoSmallDisk();

test('with the disk of the book full calls go on, management gets 503, and all is caught up', {
  skip,
}, async (t) => {
  const disk = mountSmallDisk(t, 4);
  const [redis, provider] = await Promise.all([startRedis(t), startScriptedProvider({ record: true })]);
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url, { REDIS_URL: redis.url, TOLLGATE_DATA: disk.folder });
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 10_000);
  const managing = apiOf(gateway, owner.key);
  disk.fill();
  let passed = 0;
  const refused = await until('the book to have no room', async () => {
    const { status } = await gateway.chat(owner.key);
    if (status !== 200) throw new Error(`a call was answered ${status}`);
    passed++;
    const answer = await managing.post('/api/keys/', { name: 'n', description: 'x'.repeat(1_000) });
    return answer.status === 201 ? undefined : answer;
  });
  t.equal(refused.status, 503);
  t.equal(refused.error?.code, 'service_unavailable');
  t.ok(refused.headers.get('retry-after'));
  for (let calls = 0; calls < 20; calls++) {
    t.equal((await gateway.chat(owner.key)).status, 200);
    passed++;
  }
  disk.clear();
  const entries = await until('the ledger to catch up', async () => {
    const found = await ledgerOf(gateway, owner);
    return found.length === passed + 1 && found;
  });
  t.equal(sumOf(entries), (10_000 - passed) * 1_000_000);
  t.equal((await managing.post('/api/keys/', { name: 'n' })).status, 201);
});

test('with the disk of Redis full calls get 503, none is free, and they go on once there is room', {
  skip,
}, async (t) => {
  const disk = mountSmallDisk(t, 4);
  const provider = await startScriptedProvider({ record: true });
  t.teardown(() => provider.close());
  const redis = await startRedis(t, { dir: disk.folder });
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, { REDIS_URL: redis.url }));
  const owner = await makeOwner(gateway, 10_000);
  const raw = await redis.connect();
  disk.fill();
  let passed = 0;
  const refused = await until('Redis to refuse writes', async () => {
    const response = await gateway.chat(owner.key);
    await response.text();
    if (response.status === 200) passed++;
    // A busy machine may refuse a call too.
    else if (/^aof_last_write_status:err/m.test(await raw.info('persistence'))) return response;
    return undefined;
  });
  t.equal(refused.status, 503);
  t.ok(refused.headers.get('retry-after'));
  const sent = provider.requests.length;
  t.equal((await gateway.chat(owner.key)).status, 503);
  t.equal(provider.requests.length, sent);
  disk.clear();
  await until('calls to pass again', async () => {
    const { status } = await gateway.chat(owner.key);
    if (status === 200) passed++;
    return status === 200;
  });
  const entries = await until('the ledger to have it all', async () => {
    const found = await ledgerOf(gateway, owner);
    return found.length >= passed + 1 && found;
  });
  t.equal(entries.length, passed + 1);
  await until('no hold to be left', async () => (await balanceOf(gateway, owner)).held === 0);
  t.same(await balanceOf(gateway, owner), { balance: 10_000 - passed, held: 0 });
});
