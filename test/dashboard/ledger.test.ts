import { readFileSync } from 'node:fs';
import t from 'tap';
import { apiOf } from '../helper/api.ts';
import { openDashboard } from '../helper/dashboard.ts';
import { until } from '../helper/until.ts';
import { startWorld } from '../helper/world.ts';

const world = await startWorld(t);
const { key } = await world.account({ credits: 100 });
const { body: second } = await apiOf(world, key).post<{ id: number; key: string }>('/api/keys/', {
  name: 'Second',
});
await Promise.all(Array.from({ length: 52 }, async () => (await world.chat(key)).text()));
await (await world.chat(second.key, { model: 'renamed' })).text();
await world.settled();

async function ledger(t: Parameters<typeof openDashboard>[0]) {
  const { page, signIn, open } = await openDashboard(t, world);
  await signIn(key);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await open('ledger', 'Ledger');
  const rows = page.getByRole('region', { name: 'Ledger entries' }).locator('tbody tr');
  await rows.first().waitFor();
  return { page, rows };
}

t.test('entries come in pages, newest first', async (t) => {
  const { page, rows } = await ledger(t);
  t.equal(await rows.count(), 50);
  t.match(await rows.first().textContent(), /Chargerenamed−1\.00000047\.000000Second/);
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByText('Page 2').waitFor();
  await page.getByRole('cell', { name: 'Top-up' }).waitFor();
  t.equal(await rows.count(), 4);
  t.match(await rows.last().textContent(), /Top-up\+100\.000000100\.000000/);
  await page.getByRole('button', { name: 'Newer' }).click();
  await page.getByText('Page 1').waitFor();
  t.ok(await page.getByRole('button', { name: 'Newer' }).isDisabled());
});

t.test('filters leave what they name', async (t) => {
  const { page, rows } = await ledger(t);
  await page.getByRole('combobox', { name: 'Key' }).selectOption(String(second.id));
  await until('one row', async () => (await rows.count()) === 1);
  t.match(await rows.first().textContent(), /renamed/);
  await page.getByRole('combobox', { name: 'Type' }).selectOption('top_up');
  await page.getByText('No entry is like that').waitFor();
  await page.getByRole('combobox', { name: 'Key' }).selectOption('');
  await page.getByRole('cell', { name: 'Top-up' }).waitFor();
  await page.getByRole('combobox', { name: 'Type' }).selectOption('');
  await until('a full page', async () => (await rows.count()) === 50);
  await page.getByRole('combobox', { name: 'Model' }).selectOption('renamed');
  await until('one row', async () => (await rows.count()) === 1);
  t.match(await rows.first().textContent(), /Second/);
});

t.test('the ledger is exported as it is filtered', async (t) => {
  const { page } = await ledger(t);
  await page.getByRole('combobox', { name: 'Model' }).selectOption('renamed');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const file = await download;
  t.equal(file.suggestedFilename(), 'ledger.csv');
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\n');
  t.equal(lines.length, 2, 'a head and the one entry');
  t.match(lines[1], /renamed/);
});

t.test('times are local, and UTC on demand', async (t) => {
  const { page, rows } = await ledger(t);
  const time = rows.first().locator('time');
  const [local, utc] = [await time.textContent(), await time.getAttribute('title')];
  t.match(utc, / UTC$/);
  await page.getByRole('button', { name: 'Show UTC' }).click();
  t.equal(await time.textContent(), utc);
  t.not(local, utc);
});
