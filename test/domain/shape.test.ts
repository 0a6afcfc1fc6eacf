import { test } from 'tap';
import { invalidField } from '../../src/domain/errors.ts';
import {
  boolean,
  Faults,
  maybe,
  number,
  optional,
  readBody,
  readQuery,
  section,
} from '../../src/domain/shape.ts';

const shape = section({
  page_size: optional(number(1, 10), 5, 'Items of a page'),
  is_new: maybe(boolean, 'Whether it is new'),
});

test('an unknown field of a body is named, and cut short where its name is huge', async (t) => {
  for (const [name, shown] of [
    ['color', 'color'],
    ['a "b"', 'a "b"'],
    ['x'.repeat(1_000_000), `${'x'.repeat(100)}…`],
  ] as const) {
    t.throws(
      () => readBody(shape, { [name]: 1 }),
      invalidField(
        shown,
        `${JSON.stringify(shown)} is not a supported field. Supported fields: page_size, is_new.`,
      ),
    );
  }
});

test('absent fields have their default, or are absent', async (t) => {
  t.strictSame(readBody(shape, {}), { pageSize: 5 });
  t.strictSame(readBody(shape, { page_size: 3, is_new: false }), { pageSize: 3, isNew: false });
});

test('numbers and flags are text in a query, but not in a body', async (t) => {
  t.strictSame(readQuery(shape, { page_size: '7', is_new: 'true' }), { pageSize: 7, isNew: true });
  for (const page_size of ['1.0', '1e0', '0x1', ' 1', '', '11'])
    t.throws(() => readQuery(shape, { page_size }), { code: 'invalid_field', param: 'page_size' }, page_size);
  t.throws(() => readBody(shape, { page_size: '7' }), { code: 'invalid_field', param: 'page_size' });
  t.throws(() => readBody(shape, { is_new: 'true' }), { code: 'invalid_field', param: 'is_new' });
});

test('null is a value in a body, and absent in the config file', async (t) => {
  t.throws(() => readBody(shape, { page_size: null }), { code: 'invalid_field', param: 'page_size' });
  const faults = new Faults();
  t.strictSame(shape(new Map([['page_size', null]]), '', faults), { pageSize: 5 });
  t.same(faults.lines, []);
});

test('one pass over the config file finds every fault', async (t) => {
  const faults = new Faults();
  const given = new Map<string, unknown>([
    ['page_size', 11],
    ['is_new', 2],
    ['color', 'red'],
  ]);
  t.equal(shape(given, 'list', faults), undefined);
  t.same(faults.lines, [
    'list.color: is not a setting; supported: page_size, is_new',
    'list.page_size: must be a whole number from 1 to 10',
    'list.is_new: must be true or false',
  ]);
});
