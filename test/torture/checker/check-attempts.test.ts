import { test } from 'tap';
import type { CallModel } from '../model/model.ts';
import { FAILED_WORDS } from '../world/targets.ts';
import type { Arrival } from '../world/upstream.ts';
import { checkAttempts } from './check-attempts.ts';
import { answer, fixture, PREFIX } from './check-fixture.ts';
import type { LedgerRow } from './snapshot.ts';

// Tests of the checker: violations of section 12 that it must find, and behavior that it must accept.

function arrival(call: number, target: Arrival['target'], more: Partial<Arrival> = {}): Arrival {
  const fails = target === 'first';
  return {
    call,
    target,
    model: 'flat',
    at: call * 10,
    way: fails ? 'fails' : 'answers',
    status: fails ? 500 : 200,
    outMs: fails ? 1_000 : undefined,
    endingAt: call * 10,
    ...more,
  };
}

/** The fixture's first call with this text, its row, and its visits at the targets. */
function faultsOf(
  arrivals: readonly Arrival[],
  { attempts, text = '', ...more }: { attempts?: unknown; text?: string } & Partial<LedgerRow> = {},
): string[] {
  const { model, snapshot } = fixture();
  const [call] = model.calls as [CallModel];
  call.answer = answer({ requestId: `${PREFIX}1`, text });
  const ledger = snapshot.ledger.map((row) =>
    row.id === `${PREFIX}1` ? { ...row, upstream: 'test', call: JSON.stringify({ attempts }), ...more } : row,
  );
  return checkAttempts({ ledger }, model, arrivals);
}

const first = arrival(1, 'first');
const second = arrival(1, 'test');
const tried = (target: string, status: number | null) => ({ target, status, ms: 1 });
const BOTH = [tried('first', 500), tried('test', 200)];

test('a call that goes on after a failure, and one that nobody sends on, are right', async (t) => {
  t.same(faultsOf([first, second], { attempts: BOTH }), []);
  t.same(faultsOf([first, second], { attempts: [tried('gone', null), ...BOTH] }), []);
  t.same(faultsOf([second]), [], 'a row of one try lists none');
  const left = { attempts: [tried('first', 500), tried('test', null)], outcome: 'client_left' };
  t.same(faultsOf([first], left), [], 'left before it arrived at the second');
});

test('a call that is sent on where it must not be is found', async (t) => {
  const unsure = { ...first, way: 'unsure', status: null } as const;
  const rows = { attempts: [tried('first', null), tried('test', 200)] };
  t.match(faultsOf([unsure, second], rows), [/call 1 was sent on to first,test, though first unsure/]);
  const shown = { ...first, way: 'answers', status: 200 } as const;
  const both = { attempts: [tried('first', 200), tried('test', 200)] };
  t.match(faultsOf([shown, second], both), [/call 1 was sent on/]);
  t.match(faultsOf([first, first, second], { attempts: BOTH })[0], /call 1 was sent to first twice/);
});

test('a client that is shown two answers is found', async (t) => {
  const event = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
  const whole = `${event({ role: 'assistant' })}${event({ content: 'hi' })}data: [DONE]\n\n`;
  t.same(faultsOf([second], { text: whole }), []);
  t.match(faultsOf([second], { text: whole + whole }), [/call 1 was shown more than one answer/]);
  const failed = `data: {"error":{"message":"${FAILED_WORDS}"}}\n\n`;
  t.match(faultsOf([second], { text: `${event({ role: 'assistant' })}${failed}` }), [/more than one answer/]);
});

test('a row that does not list the tries as they were is found', async (t) => {
  t.match(faultsOf([first, second]), [/the tries differ: call 1 was at first \(fails\),test \(answers\)/]);
  t.match(faultsOf([second], { attempts: BOTH }), [/the tries differ/, /first did not answer 500/]);
  const other = [tried('first', 503), tried('test', 200)];
  t.match(faultsOf([first, second], { attempts: other }), [/first did not answer 503/]);
  t.match(faultsOf([first, second], { attempts: [...BOTH, tried('gone', null), tried('gone', null)] }), [
    /too many tries/,
  ]);
  t.match(faultsOf([first, second], { attempts: BOTH, upstream: 'first' }), [/first did not answer: call 1/]);
});

test('a timeout that is not charged as an estimate, and a broken connection that is charged, are found', async (t) => {
  const unsure = { ...second, way: 'unsure', status: null } as const;
  const rows = { attempts: [tried('test', null)] };
  t.same(faultsOf([unsure], { ...rows, outcome: 'timeout', estimated: 1 }), []);
  t.match(faultsOf([unsure], { ...rows, outcome: 'timeout', estimated: 1, credits: 0 }), [
    /a timeout cost 0/,
  ]);
  t.same(faultsOf([unsure], { ...rows, outcome: 'upstream_broke', credits: 0 }), []);
  t.match(faultsOf([unsure], { ...rows, outcome: 'upstream_broke' }), [/never began cost -1000000/]);
});

/** Sequential calls at one gateway, 100 ms apart, with these arrivals at the targets. */
function faultsOfCalls(
  arrivals: readonly Arrival[],
  accountOf: (call: number) => number = () => 1,
): string[] {
  const { model } = fixture();
  const [call] = model.calls as [CallModel];
  const numbers = [...new Set(arrivals.map(({ call }) => call))];
  const calls = numbers.map((id) => ({
    ...call,
    id,
    key: { ...call.key, account: { ...call.key.account, id: accountOf(id) } },
    startedAt: id * 100,
    answer: answer({ requestId: `${PREFIX}${id}`, endedAt: id * 100 + 50 }),
  }));
  model.calls.splice(0, 2, ...calls);
  return checkAttempts({ ledger: [] }, model, arrivals);
}

test('a call that is sent to a target while that is out and the other is up is found', async (t) => {
  const at = (call: number) => ({ at: call * 100 + 10, endingAt: call * 100 + 20 });
  const refused = { ...at(1), status: 401 };
  const failed = [arrival(1, 'first', refused), arrival(1, 'test', at(1))];
  const again = arrival(3, 'first', { ...at(3), way: 'answers', outMs: undefined });
  t.match(faultsOfCalls([...failed, again]), [/call 3 was sent to first for flat at 310, which was out/]);
  t.same(faultsOfCalls([...failed, { ...again, ...at(12), call: 12 }]), [], 'its time is over');
  t.same(faultsOfCalls([...failed, { ...again, model: 'tokens' }]), [], 'health is kept for each model');
  const back = arrival(2, 'first', { ...at(2), way: 'answers', outMs: undefined });
  t.match(faultsOfCalls([...failed, back, again]), [/call 2/], 'it may have brought it back');
  const together = arrival(1.4, 'first', { at: 141, endingAt: 142, outMs: 100 });
  t.same(faultsOfCalls([...failed, together, again]), [], 'another failed first, and its time is over');
  const both = arrival(2, 'test', { ...at(2), way: 'fails', outMs: 1_000 });
  t.same(faultsOfCalls([...failed, both, again]), [], 'both are out');
  const tried = arrival(3, 'test', { ...at(3), way: 'fails', outMs: 1_000 });
  t.same(faultsOfCalls([...failed, tried, again]), [], 'the other has failed for this call');
});

test('a failure that another account saw just before puts the target out, one account alone does not', async (t) => {
  const at = (call: number) => ({ at: call * 100 + 10, endingAt: call * 100 + 20 });
  const both = (call: number) => [arrival(call, 'first', at(call)), arrival(call, 'test', at(call))];
  const again = arrival(3, 'first', { ...at(3), way: 'answers', outMs: undefined });
  const calls = [...both(1), ...both(2), again];
  t.same(faultsOfCalls(calls), []);
  t.match(
    faultsOfCalls(calls, (call) => call),
    [/call 3 was sent to first for flat at 310, which was out: call 2/],
  );
});
