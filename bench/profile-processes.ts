import { cpus } from 'node:os';
import { isPostgresInstalled, startPostgres } from '../test/helper/start/postgres-server.ts';
import { chatCall } from './call-request.ts';
import { Cleanup } from './cleanup.ts';
import { halfOf, withHalfLoad } from './half-load.ts';
import type { Options } from './options.ts';
import { callTable, type ProfileReport, type Skipped } from './report.ts';
import { measure } from './rounds.ts';
import { startSharedRedis } from './shared-redis.ts';
import { onStage, type Stage } from './stage.ts';
import type { Target } from './target.ts';
import { familyOf } from './usage.ts';

/** A gateway with one process, with two, and on large machines with more, on one Redis and one PostgreSQL. */
export async function processes(options: Options): Promise<ProfileReport | Skipped> {
  if (!isPostgresInstalled()) {
    return {
      profile: 'processes',
      skipped: 'Several processes need PostgreSQL 15 or newer, which is not installed here.',
    };
  }
  const cores = cpus().length;
  // Half of the cores are for the upstream, Redis, PostgreSQL and the load generator.
  const counts = [1, 2, 4, 8].filter((count) => count <= Math.max(2, cores / 2));
  const about = `${counts.join(', ')} processes of one gateway (WORKERS), with Redis and PostgreSQL, 100 accounts; 64 connections`;
  const cleanup = new Cleanup();
  try {
    const postgres = await startPostgres();
    cleanup.add(() => postgres.stop());
    const redisUrl = await startSharedRedis(cleanup);
    const shared = { databaseUrl: postgres.url('postgres'), redisUrl };
    const shape = { accounts: 100, keysEach: 1, restricted: true, workers: counts, shared };
    const { result, checks } = await onStage(shape, async (stage) => {
      const targets = counts.map((count, index) => gatewayOf(stage, count, index));
      const requests = stage.accounts.map(({ keys }) => chatCall(keys[0] ?? '', { promptBytes: 750 }));
      const measured = await measure(targets, { ...options, requests, connections: 64, alone: false });
      const table = callTable(measured, targets[0]?.name ?? '');
      return await withHalfLoad(table, targets, halfOf(targets, measured), { ...options, requests });
    });
    const note = `${cores} cores for everything: calls/s can grow only where the first process leaves some idle`;
    return { profile: 'processes', about, ...result, checks, notes: [note] };
  } finally {
    await cleanup.run();
  }
}

function gatewayOf(stage: Stage, count: number, index: number): Target {
  const gateway = stage.gateways[index];
  if (!gateway) throw new RangeError('a gateway for each number of processes');
  return {
    name: count === 1 ? '1 process' : `${count} processes`,
    urls: [gateway.url],
    pids: familyOf(gateway.pid),
    redis: stage.redis,
  };
}
