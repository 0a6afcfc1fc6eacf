import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { makeFolder } from '../../src/config/make-folder.ts';

function emptyFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-folder-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('folders that are missing are made, for their owner only', (t) => {
  const outer = join(emptyFolder(t), 'a');
  const inner = join(outer, 'b', 'c');
  makeFolder(inner);
  t.same(
    [outer, inner].map((path) => statSync(path).mode & 0o777),
    [0o700, 0o700],
  );
  t.end();
});

test('an existing folder keeps its mode', (t) => {
  const folder = emptyFolder(t);
  const before = statSync(folder);
  makeFolder(folder);
  t.equal(statSync(folder).mode, before.mode);
  t.end();
});

test('a link to a folder is one', (t) => {
  const folder = emptyFolder(t);
  const link = join(folder, 'link');
  symlinkSync('.', link);
  makeFolder(join(link, 'below'));
  t.ok(statSync(join(folder, 'below')).isDirectory());
  t.end();
});

test('an obstacle is named', (t) => {
  const folder = emptyFolder(t);
  const file = join(folder, 'file');
  const nowhere = join(folder, 'nowhere');
  writeFileSync(file, '');
  symlinkSync('missing', nowhere);
  for (const path of [file, nowhere]) t.throws(() => makeFolder(path), { code: 'EEXIST', path });
  t.throws(() => makeFolder(join(file, 'below')), { code: 'EEXIST', path: file });
  t.end();
});

test('a folder that cannot be created is an immediate error', {
  skip: !existsSync('/proc/self'),
}, (t) => {
  t.throws(() => makeFolder('/proc/none/below'), { code: 'ENOENT', path: '/proc/none' });
  t.end();
});
