import { test } from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { makeOwner } from '../helper/clients/owner.ts';
import { rotate } from '../helper/clients/rotate.ts';
import { startGatewayProcesses } from '../helper/start/own-servers.ts';

const ROTATIONS = 50;
const CLIENTS = 6;
/** Calls that end between two rotations, at least. */
const CALLS_BETWEEN = 24;

/** A value of the key, and when it began and ended: times of this machine, whose clock Redis has too. */
interface Value {
  readonly key: string;
  /** From then on it must be let in: its rotation was answered. */
  readonly validFrom: number;
  /** Until then it must be let in: what ends it had not been sent. */
  validUntil: number;
  /** From then on it must be refused: what ended it was answered. */
  refusedFrom: number;
}

interface Call {
  readonly value: Value;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly status: number;
}

test(`a key rotated ${ROTATIONS} times under load: no call refused in grace, none let in after it`, async (t) => {
  const { at } = await startGatewayProcesses(t, 2);
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
      const answer = await at(turn >> 1).served(value.key);
      const endedAt = performance.now();
      await answer.arrayBuffer();
      calls.push({ value, sentAt, endedAt, status: answer.status });
      onCall();
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));

  for (let rotation = 0; rotation < ROTATIONS; rotation++) {
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
    for (const value of ending) if (value && value.refusedFrom === Infinity) value.refusedFrom = answeredAt;
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
    t.ok(those.length > ROTATIONS, `${name}: ${those.length} calls of ${calls.length}`);
  }
});

/** When the value after this one was answered. */
function nextOf(values: readonly Value[], value: Value): number {
  return values[values.indexOf(value) + 1]?.validFrom ?? Infinity;
}
