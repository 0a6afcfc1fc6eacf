import { setTimeout as sleep } from 'node:timers/promises';
import { openBook } from '../../../src/book/open-book.ts';
import { BUCKETS, holdsRedisKey, journalRedisKey } from '../../../src/ledger/redis/redis-keys.ts';
import { readBook } from '../../helper/check/book-reader.ts';
import { until } from '../../helper/check/until.ts';
import { ADMIN_TOKEN } from '../../helper/start/gateway-process.ts';
import { newestOf } from '../model/values-model.ts';
import { openLedgerOf } from '../nemesis/other-gateway.ts';
import { bookOf } from '../world/world.ts';
import { makeCallWith } from './calls.ts';
import type { History } from './history.ts';
import { topUp } from './owners.ts';

const RECOVERED_WITHIN_MS = 30_000;
const QUIESCED_WITHIN_MS = 30_000;
const AGAIN_MS = 20;
/** Longer than the deadline of any hold, and shorter than the lifetime of idempotency markers. */
const LATER_MS = 3_600_000;

/** Ends all faults, and measures the time until calls succeed at every gateway. */
export async function heal(history: History): Promise<void> {
  const { world, summary, model } = history;
  world.failpoints.disarmAll();
  world.upstream.firstIs('answers');
  await until('the faults to have ended', () => history.isRedisUp && history.isBookUp, RECOVERED_WITHIN_MS);
  await Promise.all(world.slots.map((slot) => slot.revived()));
  const healedAt = performance.now();
  await Promise.all(
    world.slots.flatMap(({ index }) =>
      history.probes.map(async (key) => {
        const plan = { slot: index, manner: 'plain', model: 'flat', leaving: undefined } as const;
        while ((await makeCallWith(history, key, plan)).answer?.status !== 200) {
          if (performance.now() - healedAt > RECOVERED_WITHIN_MS) {
            model.violations.push(
              `gateway ${index} lets no call of account ${key.account.id} pass ${RECOVERED_WITHIN_MS} ms after all was healed`,
            );
            return;
          }
          await sleep(AGAIN_MS);
        }
        summary.recovered(performance.now() - healedAt);
      }),
    ),
  );
  await history.backgroundDone();
  await history.healed();
}

/**
 * Waits until the system is at rest: every top-up is acknowledged, every journal drained, and no running gateway has a
 * hold.
 */
export async function quiesce(history: History): Promise<void> {
  const { model, world } = history;
  for (const [index, missing] of model.topUps.entries()) {
    if (!missing.isAcknowledged) await topUp(history, missing, index, 20);
    if (!missing.isAcknowledged) model.violations.push(`${missing.idempotencyKey} is never acknowledged`);
  }
  let open: string[] = [];
  await until(
    'nothing to be under way',
    async () => {
      open = [
        ...(await openInGateways(history)),
        ...(await openInRedis(history)),
        ...(await openInBook(history)),
      ];
      return open.length === 0;
    },
    QUIESCED_WITHIN_MS,
  ).catch(() => model.violations.push(`not quiesced: ${open.join('; ')}`));
  for (const slot of world.slots) {
    let said = '';
    await until(
      `gateway ${slot.index} to be ready`,
      async () => {
        const ready = await fetch(`${slot.url}/readyz`);
        said = await ready.text();
        return ready.status === 200;
      },
      // Long, because a silent connection to the book is noticed only when it is used.
      QUIESCED_WITHIN_MS,
    ).catch(() => model.violations.push(`gateway ${slot.index} is not ready: ${said}`));
  }
}

/** Charges that Redis has not confirmed. After a loss, Redis has no holds that would show them. */
async function openInGateways({ world }: History): Promise<string[]> {
  const open: string[] = [];
  for (const { url, index } of world.slots) {
    const metrics = await (
      await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
    ).text();
    const settlements = Number(/^tollgate_open_settlements (\d+)$/m.exec(metrics)?.[1]);
    if (settlements !== 0) open.push(`${settlements} settlements of gateway ${index}`);
  }
  return open;
}

async function openInRedis({ raw, world, model }: History): Promise<string[]> {
  const open: string[] = [];
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const length = await raw.xlen(journalRedisKey(bucket));
    if (length > 0) open.push(`${length} entries in journal ${bucket}`);
    for (const [id, hold] of Object.entries(await raw.hgetall(holdsRedisKey(bucket)))) {
      const isOfOneAlive = world.slots.some(({ life }) => life && id.startsWith(life.prefix));
      const isRevived = model.losses.some(({ revived }) => revived.has(id));
      if (!hold.startsWith('-') && isOfOneAlive && !isRevived) open.push(`hold ${id}: ${hold}`);
    }
  }
  return open;
}

/** Pending work of the sweep and the alert worker in the book. */
async function openInBook({ world }: History): Promise<string[]> {
  return await readBook(bookOf(world), async (rows) => {
    const grants = await rows<{ id: string }>("select id from grants where state = 'pending'");
    const alerts = await rows<{ id: bigint }>("select id from alerts where state = 'queued'");
    return [...grants.map(({ id }) => `grant ${id}`), ...alerts.map(({ id }) => `alert ${id}`)];
  });
}

/**
 * Reads every account at a gateway, which rebuilds those that Redis lost. It takes a second or two to notice a silent
 * connection, so the first answer may be 503.
 */
export async function touchAll(history: History): Promise<void> {
  const { model } = history;
  for (const account of model.accounts) {
    const key = model.keys.find((candidate) => candidate.account === account);
    if (!key) continue;
    await until(
      `account ${account.id} to be readable`,
      async () =>
        (await history.ask(0, { method: 'GET', path: '/api/account/', token: newestOf(key).value }))
          .status === 200,
      RECOVERED_WITHIN_MS,
    ).catch((error: Error) => model.violations.push(error.message));
  }
}

/** Stops the gateways cleanly, then expires the holds of killed ones as if after their deadline. */
export async function end(history: History): Promise<void> {
  const { world, model } = history;
  for (const slot of world.slots) {
    const { code, errors } = await slot.stop();
    if (code !== 0) model.violations.push(`gateway ${slot.index} stopped with ${code}: ${errors}`);
    model.violations.push(...slot.crashes);
  }
  const book = await openBook(bookOf(world));
  const open = await openLedgerOf(world, book);
  await open.sweep.expireHolds(Date.now() + LATER_MS);
  await open.settled();
  await open.close(5_000);
  await book.close();
}
