import type { Page } from 'playwright-core';
import t from 'tap';
import { keysOf, makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });

async function versionOf(id: number) {
  return (await keysOf(world, owner.key)).find((key) => key.id === id)?.version;
}

const question = (page: Page) => page.getByRole('dialog', { name: 'Lock yourself out?' });

const RESTRICTIONS: readonly [what: string, set: (page: Page) => Promise<void>, reason: RegExp][] = [
  [
    'addresses without its own',
    (page) => page.getByLabel('Allowed IP addresses', { exact: true }).fill('203.0.113.0/24'),
    /Your own IP address 127\.0\.0\.1 is not in the allowed IP addresses/,
  ],
  [
    'its own country',
    async (page) => {
      await page.setExtraHTTPHeaders({ 'x-forwarded-for': '8.8.8.8' });
      await page.getByLabel('Blocked countries', { exact: true }).fill('United States');
    },
    /is in United States, which is blocked/,
  ],
];

for (const [what, set, reason] of RESTRICTIONS) {
  t.test(`giving your own key ${what} asks first`, async (t) => {
    const own = await makeKey(world, owner.key, { name: 'Own' });
    const version = await versionOf(own.id);
    const { page } = await signedIn(t, world, own.key, { at: [`keys/${own.id}`, 'Own'] });
    await set(page);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await question(page).getByText(reason).waitFor();
    t.equal(await versionOf(own.id), version, 'nothing is saved before the answer');
    await question(page).getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await question(page).getByRole('button', { name: 'Save anyway' }).click();
    await question(page).waitFor({ state: 'detached' });
    t.not(await versionOf(own.id), version, 'and then it is');
  });
}

t.test('restrictions that do not lock out are saved without a question', async (t) => {
  const own = await makeKey(world, owner.key, { name: 'Own' });
  const { page } = await signedIn(t, world, own.key, { at: [`keys/${own.id}`, 'Own'] });
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('127.0.0.0/8');
  await page.getByLabel('Allowed browser origins', { exact: true }).fill(world.url);
  await page.getByLabel('Expires').fill('2099-01-01T00:00');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Key “Own” saved.').waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
});

t.test('nor is anything asked about another key', async (t) => {
  const other = await makeKey(world, owner.key, { name: 'Other' });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${other.id}`, 'Other'] });
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('203.0.113.0/24');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Key “Other” saved.').waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
});
