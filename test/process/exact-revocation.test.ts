import { test } from 'tap';
import { untilServed } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { makeOwner } from '../helper/clients/owner.ts';
import { startGatewayProcesses } from '../helper/start/own-servers.ts';

const CHANGES = 120;

test(`each of ${CHANGES} changes of a key holds in the very next call at another gateway, under load`, async (t) => {
  const { at } = await startGatewayProcesses(t, 3);
  const owner = await makeOwner(at(0), 1_000_000);
  const { body: other } = await untilServed('a key', () =>
    apiOf(at(0), owner.key).post<{ id: number; key: string }>('/api/keys/', { name: 'handed out' }),
  );
  let isOn = true;
  const load = (async () => {
    for (let turn = 0; isOn; turn++) await (await at(turn).served(other.key)).text();
  })();
  const wrong: string[] = [];
  for (let change = 0; change < CHANGES; change++) {
    const isBarred = change % 2 === 0;
    const allowed_models = isBarred ? ['tokens'] : [];
    const path = `/api/keys/${other.id}/`;
    const { status } = await untilServed('the change', () =>
      apiOf(at(change), owner.key).patch(path, { allowed_models }),
    );
    const call = await at(change + 1 + (change % 2)).served(other.key);
    await call.text();
    if (status !== 200 || call.status !== (isBarred ? 403 : 200))
      wrong.push(`change ${change}: ${status}, then ${call.status}`);
  }
  isOn = false;
  await load;
  t.same(wrong, []);
});
