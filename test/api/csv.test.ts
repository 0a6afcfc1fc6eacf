import { test } from 'tap';
import { usageCsv } from '../../src/dashboard/page/usage/usage-csv.ts';
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

test("the page's own usage CSV has the same guards", async (t) => {
  const row = { calls: 1, refused: 0, failed: 0, credits: '1.000000', usage: {} };
  const rows = ['＝1+1', '\u200b=1+1', 'a;=1+1'].map((key_name, at) => ({ ...row, key_id: at, key_name }));
  const total = { calls: 1, credits: '1.000000', usage: {} };
  const report = { from: '2026-11-01', to: '2026-11-02', group_by: 'key', rows, total };
  const text = await usageCsv(report).text();
  for (const cell of [",'＝1+1,", ",'\u200b=1+1,", ",a;'=1+1,"]) t.ok(text.includes(cell), cell);
});
