import type { Test } from 'tap';
import { until, untilServed } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { rotate } from '../helper/clients/rotate.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import { ADMIN_TOKEN } from '../helper/start/gateway-process.ts';
import { startGatewayProcesses } from '../helper/start/own-servers.ts';

const CLIENTS = 6;
/** The minimum number of calls that end between two rotations. */
const CALLS_BETWEEN = 24;

/** A value of the key, and when it began and ended by the clock that Redis shares with this machine. */
interface Value {
  readonly key: string;
  /** From then on it must be admitted: its rotation was answered. */
  readonly validFrom: number;
  /** Until then it must be admitted: the request that ends it had not been sent. */
  validUntil: number;
  /** From then on it must be refused: the request that ended it was answered. */
  refusedFrom: number;
}

interface Call {
  readonly value: Value;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly status: number;
}

/** When the value after this one was answered. */
function nextOf(values: readonly Value[], value: Value): number {
  return values[values.indexOf(value) + 1]?.validFrom ?? Infinity;
}

/** How often each promise is put to the test. */
interface Rounds {
  /** More than the 100 that the balance pays for. */
  readonly calls: number;
  readonly deletions: number;
  /** Two changes, one each way, for each of the pairs of a gateway that changes the key and one that is called. */
  readonly changes: number;
  readonly rotations: number;
  readonly crossings: number;
}

/** Registers the tests of what several gateways on one Redis and one book promise, on three that all of them share. */
export async function testSeveralGateways(
  t: Test,
  { calls, deletions, changes, rotations, crossings }: Rounds,
): Promise<void> {
  const { gateways, at } = await startGatewayProcesses(t, 3);
  const [a, b] = [at(0), at(1)];

  t.test(
    `of ${calls} concurrent calls at two gateways, exactly as many pass as the balance pays for`,
    async (t) => {
      const owner = await makeOwner(a, 100);
      const send = async (index: number) => {
        const response = await (index % 2 ? a : b).chat(owner.key);
        await response.text();
        return response.status;
      };
      const statuses = await Promise.all(Array.from({ length: calls }, (_, index) => send(index)));
      statuses.push(await send(1));
      const count = (status: number) => statuses.filter((other) => other === status).length;
      t.same({ passed: count(200), refused: count(402) }, { passed: 100, refused: calls - 99 });
      const entries = await until('the ledger to be whole', async () => {
        const found = await ledgerOf(a, owner);
        return found.length >= 101 && found;
      });
      t.equal(entries.length, 101, 'refused calls have no entry');
      t.equal(sumOf(entries), 0);
      t.same(await balanceOf(b, owner), { balance: 0, held: 0 });
    },
  );

  t.test(
    `a key deleted at one gateway is refused in the very next call at the other, each of ${deletions} times`,
    async (t) => {
      const owner = await makeOwner(a, 1_000);
      const managing = apiOf(a, owner.key);
      const { body: key } = await untilServed('a key', () =>
        managing.post<{ id: number; key: string }>('/api/keys/', { name: 'handed out' }),
      );
      const refusals: string[] = [];
      for (let round = 0; round < deletions; round++) {
        const before = await b.chat(key.key);
        await before.text();
        if (before.status !== 200) refusals.push(`round ${round}: ${before.status} while active`);
        await untilServed('the deletion', () => managing.delete(`/api/keys/${key.id}/`));
        const after = await b.chat(key.key);
        const { error } = (await after.json()) as { error?: { code: string } };
        refusals.push(`${after.status} ${error?.code}`);
        await untilServed('the change', () => managing.patch(`/api/keys/${key.id}/`, { is_active: true }));
      }
      t.same(new Set(refusals), new Set(['401 inactive_api_key']));
      t.equal(refusals.length, deletions);
    },
  );

  t.test('a restriction set at one gateway holds in the very next call at the other', async (t) => {
    const owner = await makeOwner(a, 1_000);
    await (await b.chat(owner.key)).text();
    const allow = (allowed_models: string[]) =>
      untilServed('the change', () =>
        apiOf(a, owner.key).patch(`/api/keys/${owner.keyId}/`, { allowed_models }),
      );
    await allow(['tokens']);
    t.equal((await b.chat(owner.key)).status, 403);
    await allow([]);
    t.equal((await b.chat(owner.key)).status, 200);
  });

  t.test(
    `each of ${changes} changes of a key holds in the very next call at another gateway, under load`,
    async (t) => {
      const owner = await makeOwner(a, 1_000_000);
      const { body: other } = await untilServed('a key', () =>
        apiOf(a, owner.key).post<{ id: number; key: string }>('/api/keys/', { name: 'handed out' }),
      );
      let isOn = true;
      const load = (async () => {
        for (let turn = 0; isOn; turn++) await (await at(turn).chat(other.key)).text();
      })();
      const wrong: string[] = [];
      for (let change = 0; change < changes; change++) {
        const isBarred = change % 2 === 0;
        const allowed_models = isBarred ? ['tokens'] : [];
        const path = `/api/keys/${other.id}/`;
        const { status } = await untilServed('the change', () =>
          apiOf(at(change), owner.key).patch(path, { allowed_models }),
        );
        const call = await at(change + 1 + (change % 2)).chat(other.key);
        await call.text();
        if (status !== 200 || call.status !== (isBarred ? 403 : 200))
          wrong.push(`change ${change}: ${status}, then ${call.status}`);
      }
      isOn = false;
      await load;
      t.same(wrong, []);
    },
  );

  t.test(
    `a key rotated ${rotations} times under load: no call refused in grace, none let in after it`,
    async (t) => {
      const owner = await makeOwner(at(0), 1_000_000);
      const made = await apiOf(at(0), owner.key).post<{ id: number; key: string }>('/api/keys/', {
        name: 'rotated',
      });
      const { id, key } = made.body;
      const values: Value[] = [
        { key, validFrom: performance.now(), validUntil: Infinity, refusedFrom: Infinity },
      ];
      const calls: Call[] = [];
      let isOn = true;
      let turns = 0;
      let onCall = () => {};

      async function client(): Promise<void> {
        while (isOn) {
          const turn = turns++;
          // The newest value, the previous one, or one that has ended by then.
          const value = values.at(-1 - Math.min(values.length - 1, turn % 3)) as Value;
          const sentAt = performance.now();
          const answer = await at(turn >> 1).chat(value.key);
          const endedAt = performance.now();
          await answer.arrayBuffer();
          calls.push({ value, sentAt, endedAt, status: answer.status });
          onCall();
        }
      }
      const clients = Promise.all(Array.from({ length: CLIENTS }, client));

      for (let rotation = 0; rotation < rotations; rotation++) {
        const enough = calls.length + CALLS_BETWEEN;
        await new Promise<void>((resolve) => {
          onCall = () => calls.length >= enough && resolve();
        });
        const [newest, before] = [values.at(-1) as Value, values.at(-2)];
        const graceS = rotation % 5 === 4 ? 0 : 3_600;
        const sentAt = performance.now();
        const ending = graceS === 0 ? [newest, before] : [before];
        for (const value of ending) if (value && value.validUntil === Infinity) value.validUntil = sentAt;
        const rotated = await rotate(at(rotation), owner.key, id, graceS);
        const answeredAt = performance.now();
        for (const value of ending)
          if (value && value.refusedFrom === Infinity) value.refusedFrom = answeredAt;
        values.push({ key: rotated.key, validFrom: answeredAt, validUntil: Infinity, refusedFrom: Infinity });
      }
      isOn = false;
      await clients;

      const mustPass = calls.filter(({ value, endedAt }) => endedAt < value.validUntil);
      const mustFail = calls.filter(({ value, sentAt }) => sentAt > value.refusedFrom);
      const inGrace = mustPass.filter(
        ({ value, sentAt }) => value !== values.at(-1) && sentAt > nextOf(values, value),
      );
      t.same(mustPass.filter(({ status }) => status !== 200).length, 0, 'none is refused in grace');
      t.same(mustFail.filter(({ status }) => status !== 401).length, 0, 'none is let in after it');
      t.same(new Set(calls.map(({ status }) => status)), new Set([200, 401]));
      for (const [name, those] of Object.entries({ mustPass, mustFail, inGrace })) {
        t.ok(those.length > rotations, `${name}: ${those.length} calls of ${calls.length}`);
      }
    },
  );

  // The last of these tests: it stops the gateways.
  t.test('three alert workers send one alert for each crossing', async (t) => {
    const receiver = await startReceiver();
    t.teardown(() => receiver.close());
    const owner = await makeOwner(at(0), 130, 100);
    const managing = apiOf(at(0), owner.key);
    await managing.patch(`/api/keys/${owner.keyId}/`, { webhook_url: receiver.url });
    const credits = `/api/admin/accounts/${owner.accountId}/credits/`;
    for (let crossing = 1; crossing <= crossings; crossing++) {
      await Promise.all(
        Array.from({ length: 60 }, async (_, turn) => (await at(turn).chat(owner.key)).text()),
      );
      await until('the alert', () => receiver.requests.length >= crossing);
      await apiOf(at(crossing), ADMIN_TOKEN).post(credits, { amount: 60 });
    }
    await until('the ledger to be whole', async () => {
      return (await ledgerOf(at(0), owner)).length === 1 + crossings * 61;
    });
    const outcomes = await until('every outcome', async () => {
      const { body } = await managing.get<{ alerts: { deliveries: { status: string }[] }[] }>(
        '/api/account/alerts/',
      );
      const all = body.alerts.flatMap(({ deliveries }) => deliveries.map(({ status }) => status));
      return all.every((status) => status === 'delivered') && all;
    });
    t.equal(outcomes.length, crossings);
    // A worker that was still sending would be waited for.
    for (const gateway of gateways) t.match(await gateway.stop(), { code: 0 });
    t.equal(receiver.requests.length, crossings);
  });
}
