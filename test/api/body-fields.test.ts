import { test } from 'tap';
import { objectBody } from '../../src/api/http/body-fields.ts';
import { invalidField } from '../../src/domain/errors.ts';

test('an unknown field of a body is named, and cut short where its name is huge', async (t) => {
  for (const [name, shown] of [
    ['color', 'color'],
    ['a "b"', 'a "b"'],
    ['x'.repeat(1_000_000), `${'x'.repeat(100)}…`],
  ] as const) {
    t.throws(
      () => objectBody({ [name]: 1 }, ['amount', 'note']),
      invalidField(
        shown,
        `${JSON.stringify(shown)} is not a supported field. Supported fields: amount, note.`,
      ),
    );
  }
});
