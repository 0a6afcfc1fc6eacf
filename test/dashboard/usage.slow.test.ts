import { readFileSync } from 'node:fs';
import t from 'tap';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { makeKey, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
await dayThatLasts();

t.test('spend, calls, tokens and errors are shown by model or key, as chart, table and file', async (t) => {
  const owner = await world.account({ key: { name: 'First' } });
  const second = await makeKey(world, owner.key, { name: 'Second, v1.5 of "two"' });
  for (const key of [owner.key, second.key, second.key]) await (await world.chat(key)).text();
  await (await world.chat(second.key, { model: 'unknown' })).text();
  await world.settled();
  await until('the refusal in the sums', async () => {
    const { body } = await apiOf(world, owner.key).get<{ total: { refused: number } }>(
      '/api/account/usage/?group_by=day',
    );
    return body.total.refused === 1;
  });
  const { page, faults } = await signedIn(t, world, owner.key, { at: ['usage', 'Usage'] });
  await page
    .getByRole('region', { name: 'Usage by model' })
    .getByRole('row', { name: /^flat 3 0 0 / })
    .waitFor();
  await page.getByText('3.00 total, 0.00 in the previous period').waitFor();
  await page.getByRole('combobox', { name: 'By' }).selectOption('key');
  const keys = page.getByRole('region', { name: 'Usage by key' });
  await keys.getByRole('row', { name: /^Second, v1\.5 of "two" 2 1 0 \d+ 2\.00$/ }).waitFor();
  await page
    .getByRole('list', { name: 'Colors of the chart Spend by key' })
    .getByText('Second, v1.5 of "two"')
    .waitFor();
  await page.getByText('24 hours').click();
  await page.getByText('3.00 total, 0.00 in the previous period').waitFor();
  await page.goBack();
  await page.getByLabel('Show').selectOption('Errors');
  await page.getByRole('heading', { name: 'Errors by key' }).waitFor();
  await page.getByText('1 total, 0 in the previous period').waitFor();
  t.match(page.url(), /group_by=key/);
  t.match(page.url(), /measure=errors/);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const text = readFileSync(await (await download).path(), 'utf8');
  t.match(text, /^day,key_id,key_name,calls,refused,failed,credits,/);
  t.match(text, /,"Second, v1\.5 of ""two""",2,1,0,2\.000000,/);
  await page.goBack();
  await page.getByRole('heading', { name: 'Spend by key' }).waitFor();
  // A report of many keys, whose days make more rows than a report may have.
  await page.route(/group_by=day%2Ckey/, (route) =>
    route.fulfill({ status: 400, json: { error: { message: 'Too many rows.', code: 'invalid_field' } } }),
  );
  await page.route(/group_by=day&/, (route) => {
    const day = new URL(route.request().url()).searchParams.get('from');
    return route.fulfill({ json: { rows: [{ day, calls: 1, credits: '2.400000', usage: {} }] } });
  });
  await page.getByText('90 days').click();
  await page.getByText('3.00 total, 2.40 in the previous period (▲ 25%)').waitFor();
  await page.getByRole('heading', { name: 'Spend by model' }).waitFor();
  await page.getByText('View as table').click();
  const days = page.getByRole('region', { name: 'Spend by model' });
  await days.getByRole('columnheader', { name: 'Previous period' }).waitFor();
  await reads(t, days.getByRole('row').last(), /2\.40$/, 'its first day');
  await keys.getByRole('row', { name: /^Second, v1\.5 of "two" 2 1 0 \d+ 2\.00$/ }).waitFor();
  await keys.getByRole('link', { name: 'Second' }).click();
  await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
  const rows = page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr');
  await until('the three of the key', async () => (await rows.count()) === 3);
  t.same(faults, []);
});
