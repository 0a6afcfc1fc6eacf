import { test } from 'tap';
import { print, printJson, printTable } from '../../src/cli/print.ts';

const EVIL = 'a\x1b]0;owned\x07\x1b[2J\x9b2J\u202eb';

test('nothing that is printed moves the cursor or reorders the line', (t) => {
  const capture = t.capture(process.stdout, 'write');
  print(`one\n${EVIL}`);
  printTable<string>(
    [
      ['LAST ERROR', (row) => row],
      ['X', () => 'd'],
    ],
    [`${EVIL}\nc`],
  );
  printJson({ error: EVIL });
  capture.restore();
  const written = capture()
    .map(({ args }) => args[0])
    .join('');
  t.notMatch(written, /[^\P{Cc}\n]|\p{Cf}/u);
  const [one, two, head, row, ...json] = written.split('\n');
  t.same([one, two, head], ['one', 'a]0;owned[2J2Jb', 'LAST ERROR        X']);
  t.equal(row, 'a]0;owned[2J2Jbc  d');
  t.same(JSON.parse(json.join('\n')), { error: EVIL }, 'JSON keeps all, escaped');
  t.end();
});
