import { existsSync, readFileSync } from 'node:fs';
import { test } from 'tap';

/** Each promise names the test that holds it. */
const PAGE = readFileSync(new URL('../SECURITY.md', import.meta.url), 'utf8');

function promises(): string[][] {
  const [, section = ''] = PAGE.split('\n## What is promised');
  const lines = (section.split('\n## ', 1)[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

test('every promise of SECURITY.md names an existing test file with tests', async (t) => {
  t.ok(promises().length > 20, 'the table is found');
  for (const [promise = '', tests = ''] of promises()) {
    const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    t.ok(files.length > 0, promise);
    for (const file of files) {
      const url = new URL(`../${file}`, import.meta.url);
      t.ok(
        file.endsWith('.test.ts') &&
          existsSync(url) &&
          /\b(?:test|eachBook)\(/.test(readFileSync(url, 'utf8')),
        file,
      );
    }
  }
});
