import { test } from 'tap';
import { newKeyValue } from '../../src/domain/key-value.ts';
import { keptBytes } from '../helper/check/kept-bytes.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import { OPEN_KEY } from '../helper/start/ledger-account.ts';

const MEGABYTE = 1_000_000;

test('compiled keys with long lists ended the process, because they were cached by number', async (t) => {
  const world = await startGatewayInProcess(t);
  const { accountId, key } = await world.account();
  const use = async (value: string) => {
    const answer = await fetch(`${world.url}/v1/models`, { headers: { authorization: `Bearer ${value}` } });
    t.equal(answer.status, 200);
    await answer.arrayBuffer();
  };
  await use(key);
  const before = keptBytes();
  // 0.47 MB each, seven times what a key may take.
  for (let made = 0; made < 220; made++) {
    const allowedModels = Array.from({ length: 1_000 }, (_, index) => `${made}/${index}/`.padEnd(200, '漢'));
    const { value, hash, prefix } = newKeyValue('sk-tg-');
    const record = await world.book.createKey(
      accountId,
      { ...OPEN_KEY, allowedModels, hash, prefix },
      Date.now(),
    );
    await world.ledger.ledger.publishKey(record, hash);
    await use(value);
  }
  const kept = keptBytes() - before;
  t.ok(kept < 85 * MEGABYTE, `${Math.round(kept / MEGABYTE)} MB are kept of 98`);
});
