import { cpus } from 'node:os';
import { isPostgresInstalled, startPostgres } from '../test/helper/postgres-server.ts';
import { chatCall } from './call-request.ts';
import { Cleanup } from './cleanup.ts';
import type { Options } from './options.ts';
import { callTable, type ProfileReport, type Skipped } from './report.ts';
import { measure } from './rounds.ts';
import { startSharedRedis } from './shared-redis.ts';
import { onStage, type Stage } from './stage.ts';
import type { Target } from './target.ts';

/** One gateway, two, and on large machines more, on one Redis and one PostgreSQL. */
export async function processes(options: Options): Promise<ProfileReport | Skipped> {
  if (!isPostgresInstalled()) {
    return {
      profile: 'processes',
      skipped: 'Several gateways need PostgreSQL 15 or newer, which is not installed here.',
    };
  }
  const cores = cpus().length;
  // Half of the cores are for the upstream, Redis, PostgreSQL and the load generator.
  const counts = [1, 2, 4, 8].filter((count) => count <= Math.max(2, cores / 2));
  const about = `${counts.join(', ')} gateways on one Redis and one PostgreSQL, 100 accounts; 64 connections`;
  const cleanup = new Cleanup();
  try {
    const postgres = await startPostgres();
    cleanup.add(() => postgres.stop());
    const redisUrl = await startSharedRedis(cleanup);
    const shared = { databaseUrl: postgres.url('postgres'), redisUrl };
    const gateways = Math.max(...counts);
    const shape = { accounts: 100, keysEach: 1, restricted: true, gateways, shared };
    const { result, checks } = await onStage(shape, async (stage) => {
      const targets = counts.map((count) => firstGateways(stage, count));
      const requests = stage.accounts.map(({ keys }) => chatCall(keys[0] ?? '', { promptBytes: 750 }));
      const measured = await measure(targets, { ...options, requests, connections: 64, alone: false });
      return callTable(measured, targets[0]?.name ?? '');
    });
    const note = `${cores} cores for everything: calls/s can grow only where the first gateways leave some idle`;
    return { profile: 'processes', about, ...result, checks, notes: [note] };
  } finally {
    await cleanup.run();
  }
}

function firstGateways(stage: Stage, count: number): Target {
  const gateways = stage.gateways.slice(0, count);
  return {
    name: count === 1 ? '1 gateway' : `${count} gateways`,
    urls: gateways.map(({ url }) => url),
    pids: gateways.map(({ pid }) => pid),
    redis: stage.redis,
  };
}
