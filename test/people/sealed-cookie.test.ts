import { test } from 'tap';
import { SealedCookie } from '../../src/people/sealed-cookie.ts';

const cookie = new SealedCookie('secret of a book', 'sign-in');
const VALUE = { state: 'a', after: { to: 'accept', secret: 'ö' } };

test('a sealed value opens at every gateway of the book, and shows nothing', async (t) => {
  const sealed = cookie.seal(VALUE);
  t.match(sealed, /^[A-Za-z0-9_-]+$/);
  t.notMatch(Buffer.from(sealed, 'base64url').toString('latin1'), /accept/);
  t.same(new SealedCookie('secret of a book', 'sign-in').open(sealed), VALUE);
  t.not(cookie.seal(VALUE), sealed);
});

test('it opens for ten minutes', async (t) => {
  const sealed = cookie.seal(VALUE, 1_000);
  t.same(cookie.open(sealed, 600_999), VALUE);
  t.equal(cookie.open(sealed, 601_000), undefined);
});

test('one of another book or purpose does not open', async (t) => {
  const sealed = cookie.seal(VALUE);
  t.equal(new SealedCookie('secret of another', 'sign-in').open(sealed), undefined);
  t.equal(new SealedCookie('secret of a book', 'other').open(sealed), undefined);
});

test('a changed one does not open, wherever it was changed', async (t) => {
  const bytes = Buffer.from(cookie.seal(VALUE), 'base64url');
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.equal(cookie.open(changed.toString('base64url')), undefined, `byte ${at}`);
  }
  for (const length of [0, 1, 12, 28, 29, bytes.length - 1])
    t.equal(cookie.open(bytes.subarray(0, length).toString('base64url')), undefined, `${length} bytes`);
  for (const odd of ['', '%%%', 'a'.repeat(5_000)]) t.equal(cookie.open(odd), undefined);
});
