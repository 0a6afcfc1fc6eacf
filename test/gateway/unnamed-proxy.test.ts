import { test } from 'tap';
import { type ParsedAddress, parseAddress } from '../../src/domain/addresses.ts';
import { UnnamedProxy } from '../../src/gateway/unnamed-proxy.ts';

const DAY_MS = 86_400_000;

function noting() {
  const lines: object[] = [];
  const ignore = () => {};
  const proxies = new UnnamedProxy({
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (line) => lines.push(line),
  });
  const note = (address: string, headers: Record<string, string>, day = 1) =>
    proxies.note(parseAddress(address) as ParsedAddress, headers, day * DAY_MS);
  return { lines, note };
}

test('blocked_countries blocked nobody behind a proxy that TRUST_PROXY did not name, without a word', async (t) => {
  const { lines, note } = noting();
  note('172.30.80.1', { 'x-forwarded-for': '8.8.8.8, 172.30.80.1' });
  note('172.30.80.1', { 'x-forwarded-for': '9.9.9.9' });
  t.same(lines, [{ address: '172.30.80.1', header: 'x-forwarded-for' }], 'once a day');
  note('fd00::1', { 'cf-connecting-ip': '8.8.8.8' }, 2);
  t.same(lines.at(-1), { address: 'fd00::1', header: 'cf-connecting-ip' });
});

test('clients that are where they seem to be get no warning', async (t) => {
  const { lines, note } = noting();
  note('8.8.8.8', { 'x-forwarded-for': '8.8.8.8' });
  note('10.0.0.7', {});
  note('10.0.0.7', { 'x-forwarded-for': '10.0.0.7' });
  t.same(lines, []);
});
