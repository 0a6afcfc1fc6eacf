import { globSync, readFileSync } from 'node:fs';
import { parse, type Token } from 'acorn';
import { transformSync } from 'esbuild';
import { analyse } from 'scslre';
import { test } from 'tap';

/** Patterns whose input is too short for their backtracking to matter, with its bound. */
const BOUNDED: Readonly<Record<string, string>> = {
  '\\[[^\\]]*\\]$': 'a name in a form: at most 256 bytes (read-form.ts)',
  '\\.?0+$': 'an amount that the gateway wrote: at most 24 characters',
  'T.+(?:Z|[+-](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?)$': 'LONGEST_TIMESTAMP, 64 characters',
};

interface Pattern {
  readonly file: string;
  readonly pattern: string;
  readonly flags: string;
}

/** Every regular expression that is written in the source, the page included. */
function patterns(): Pattern[] {
  return globSync('src/**/*.{ts,tsx,mjs}').flatMap((file) => {
    const loader = file.endsWith('.tsx') ? 'tsx' : 'ts';
    const { code } = transformSync(readFileSync(file, 'utf8'), { loader, target: 'esnext' });
    const found: Pattern[] = [];
    const onToken = ({ type, start, end }: Token) => {
      if (type.label !== 'regexp') return;
      const [, pattern = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(code.slice(start, end)) ?? [];
      found.push({ file, pattern, flags });
    };
    parse(code, { ecmaVersion: 'latest', sourceType: 'module', onToken });
    return found;
  });
}

const isSlow = ({ pattern, flags }: Pick<Pattern, 'pattern' | 'flags'>) =>
  analyse({ source: pattern, flags }).reports.length > 0;

test('the checker knows patterns that held the event loop for half a second', (t) => {
  t.ok(isSlow({ pattern: '^(?:\\/(?:api|v\\d+[a-z\\d]*)?)*$', flags: '' }));
  t.ok(isSlow({ pattern: '\\/+$', flags: '' }));
  t.notOk(isSlow({ pattern: '(?<!\\/)\\/+$', flags: '' }));
  t.end();
});

test('no pattern takes more than linear time, unless its input is short', (t) => {
  const all = patterns();
  t.ok(all.length > 200, `${all.length} patterns`);
  const slow = all.filter(isSlow);
  const unbounded = slow.filter(({ pattern }) => !Object.hasOwn(BOUNDED, pattern));
  t.same(unbounded, []);
  const isUsed = (bounded: string) => slow.some(({ pattern }) => pattern === bounded);
  t.same(
    Object.keys(BOUNDED).filter((bounded) => !isUsed(bounded)),
    [],
    'every exception is needed',
  );
  t.end();
});
