import { test } from 'tap';
import type { CallModel, KeyModel } from '../model/model.ts';
import type { ValueModel } from '../model/values-model.ts';
import { answer, fixture } from './check-fixture.ts';
import { checkValues } from './check-values.ts';

// Tests of the checker: faults in key values that it must find.

/** A key with its newest value and one that ends at 100, and a call with either. */
function withCall(place: 0 | 1, startedAt: number, more: { status: number; endedAt: number }) {
  const { model } = fixture();
  const [key] = model.keys as [KeyModel];
  const [call] = model.calls as [CallModel];
  key.values.splice(0, 1, { value: 'old', endedAt: 100, valid: [{ from: 0, to: 90 }] });
  key.values.push({ value: 'new', endedAt: Infinity, valid: [{ from: 50, to: Infinity }] });
  const value = key.values[place] as ValueModel;
  model.calls.splice(0, 2, { ...call, value, startedAt, answer: answer(more) });
  return model;
}

test('a call with a value after its end is found', async (t) => {
  const sent = new Map([[1, 1]]);
  const found = (startedAt: number, reached = sent) =>
    checkValues(withCall(0, startedAt, { status: 200, endedAt: 500 }), reached);
  t.same(found(100), []);
  t.match(found(101), [/call 1 with value 1 of 2 of key 1 .* began 1 ms after the end of the value/]);
  t.same(found(101, new Map()), []);
});

test('a refusal of a value that is valid is found', async (t) => {
  const found = (place: 0 | 1, startedAt: number, endedAt: number) =>
    checkValues(withCall(place, startedAt, { status: 401, endedAt }), new Map()).length;
  t.equal(found(0, 10, 89), 1, 'in its grace');
  t.equal(found(0, 10, 90), 0, 'it may have ended when it was refused');
  t.equal(found(1, 49, 60), 0, 'the rotation was not answered yet');
  t.equal(found(1, 50, 60), 1);
});
