import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'tap';

const IMPORT = /^(?:import|export) (?!type\b)[^'"]*?from '([^']+)';$/gm;

/** Every file that a file loads, itself included. */
function loadedBy(path: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(path)) return loaded;
  loaded.add(path);
  for (const [, specifier = ''] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
    if (specifier.startsWith('.')) loadedBy(join(dirname(path), specifier), loaded);
  }
  return loaded;
}

test('no part of the load tests loads tap, which would end them as a test that takes too long', async (t) => {
  const all = new Set<string>();
  for (const file of readdirSync('bench').filter((name) => name.endsWith('.ts')))
    loadedBy(join('bench', file), all);
  t.ok(all.size > 50, 'the files are found');
  const guilty = [...all].filter((path) =>
    /^import (?!type\b)[^;]*from 'tap';$/m.test(readFileSync(path, 'utf8')),
  );
  t.same(guilty, []);
});
