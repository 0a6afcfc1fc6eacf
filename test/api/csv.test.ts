import { test } from 'tap';
import { csvLine } from '../../src/domain/csv.ts';

const FORMULAS = [
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(1)',
  ' =1+1',
  '\u00a0=1+1',
  ' \u3000\u200b\ufeff@SUM(1)',
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

test('a formula behind a semicolon, a tab or a line break stayed one where those separate cells', async (t) => {
  const cells = [
    ["x;=cmd|'/C calc'!A0;y", "x;'=cmd|'/C calc'!A0;y"],
    ['ua;=1+1;', "ua;'=1+1;"],
    ['a; \u200b＝1+1', "a; \u200b'＝1+1"],
    [' \u3000\t@SUM(1)', "' \u3000\t'@SUM(1)"],
    ['a\t@SUM(1)', "a\t'@SUM(1)"],
    ['a\n-1', '"a\n\'-1"'],
    ['Mozilla/5.0 (X11; Linux)', 'Mozilla/5.0 (X11; Linux)'],
  ] as const;
  for (const [text, cell] of cells) t.equal(csvLine([text]), `${cell}\r\n`, JSON.stringify(text));
});
