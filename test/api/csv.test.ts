import { test } from 'tap';
import { csvLine } from '../../src/api/http/export-formats.ts';

const FORMULAS = [
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(1)',
  ' =1+1',
  '\u00a0=1+1',
  ' \u3000\u200b\ufeff\t@SUM(1)',
  '\0=1+1',
  '＝1+1',
  ' ＋1',
  '－1',
  '＠SUM(1)',
  '\tx',
];

test('a formula behind spaces, or with a full-width operator, stayed a formula in a spreadsheet', async (t) => {
  for (const text of FORMULAS) t.equal(csvLine([text]), `'${text}\r\n`, JSON.stringify(text));
  t.equal(csvLine([' =1,"2"']), `"' =1,""2"""\r\n`);
});

test('numbers, and texts that only contain an operator, are as they are', async (t) => {
  for (const text of ['-0.000123', '12', 'a=b', 'top-up', ' a', "'=1", ''])
    t.equal(csvLine([text]), `${text}\r\n`);
  t.equal(csvLine([-5, null, true, undefined]), '-5,,true,\r\n');
});
