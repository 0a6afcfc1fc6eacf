import type { Test } from 'tap';
import { until } from '../helper/check/until.ts';
import { call, callAgent, type EndedCall } from '../helper/clients/ended-calls.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';

const CLIENTS = 24;

/**
 * Kills a gateway in the instant after the first answer ended and, in further rounds, in the middle of many. Checks that
 * each answer that ended is charged once.
 */
export async function chargedThoughKilled(
  t: Test,
  { stream, rounds }: { stream: boolean; rounds: number },
): Promise<void> {
  const provider = await startScriptedProvider();
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  let gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 1_000_000);
  const ended: EndedCall[] = [];
  for (let round = 1; round <= rounds; round++) {
    const { url, pid } = gateway;
    const agent = callAgent(CLIENTS);
    // A different moment in each round: after the first answer, and in the middle of many.
    const killAt = ended.length + 1 + (round - 1) * 84;
    let ends = ended.length;
    const onEnd = () => {
      if (++ends === killAt) process.kill(pid, 'SIGKILL');
    };
    const client = async () => {
      for (;;) {
        const done = await call(url, owner.key, { stream }, { agent, onEnd });
        if (!done.isWhole) return;
        ended.push(done);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    agent.destroy();
    await gateway.ended;
    gateway = await startGatewayProcess(t, place);
  }
  t.ok(ended.length >= 1 + (rounds - 1) * 84, `${ended.length} answers ended`);
  // Calls whose end the client did not see are charged too, so their number says nothing; the test looks for each.
  const isFree = (charged: readonly { id: string }[]) => {
    const ids = new Set(charged.map(({ id }) => id));
    return ({ id = '' }: EndedCall) => !ids.has(id);
  };
  let entries = await ledgerOf(gateway, owner);
  await until('every journal to be drained', async () => {
    entries = await ledgerOf(gateway, owner);
    return !ended.some(isFree(entries));
  }).catch(() => t.same(ended.filter(isFree(entries)), [], 'in time'));
  const charges = new Map(entries.map((entry) => [entry.id, entry.credits]));
  const free = ended.filter(({ id = '' }) => charges.get(id) !== '-1.000000');
  t.same(free, [], 'no ended answer is without its charge');
  t.equal(charges.size, entries.length, 'none is charged twice');
  t.equal(sumOf(entries), Math.round((await balanceOf(gateway, owner)).balance * 1_000_000));
}
