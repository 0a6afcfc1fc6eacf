import t from 'tap';
import { dayThatLasts } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { makeKey, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { memberIn } from '../helper/start/people.ts';

const world = await startOwnGateway(t);
await dayThatLasts();
const { accountId, key } = await world.account({ credits: 100, email: 'northwind@example.com' });
await apiOf(world, ADMIN_TOKEN).patch(`/api/admin/accounts/${accountId}/`, {
  spending_limits: [{ period: 'monthly', credits: 50 }],
  rpm_limit: 600,
});
const weekly = [{ period: 'weekly', credits: 4 }];
const dana = await memberIn(world, accountId, { role: 'member', spending_limits: weekly }, { name: 'Dana' });
const laptop = await makeKey(world, key, { name: 'Laptop', person_id: dana.id, spending_limit: 1 });
await (await world.chat(laptop.key)).text();
await world.settled();

t.test('limits of account, members and keys are compared, the most used first', async (t) => {
  const { page, faults } = await signedIn(t, world, key, { at: ['limits', 'Limits'] });
  const rows = page.getByRole('region', { name: 'Limits' }).getByRole('row');
  await reads(t, rows.nth(1), /LaptopKeyMonthlyLimit reached: 0\.00 of 1\.00 left/);
  await reads(t, rows.nth(2), /DanaMemberWeekly3\.00 of 4\.00 left/);
  await reads(
    t,
    rows.nth(3),
    /northwind@example\.comAccountMonthly49\.00 of 50\.00 left.*Set by the operator/,
  );
  await page.getByText('600 requests a minute').waitFor();
  t.equal(
    await page.getByRole('link', { name: 'Edit the limits of Laptop' }).getAttribute('href'),
    `/dashboard/a/${accountId}/keys/${laptop.id}`,
  );
  t.equal(await page.getByRole('link', { name: 'northwind@example.com' }).count(), 0, 'set by the operator');
  await page.getByText('Over 80%').click();
  await page.waitForURL(/show=over/);
  await page.locator('.announcements').getByText('1 limit').waitFor();
  t.equal(await rows.count(), 2);
  await page.goBack();
  await rows.nth(3).waitFor();
  t.same(await accessibilityFaults(page), []);
  t.same(faults, []);
});

t.test('a member sees the own limits and changes none', async (t) => {
  const { page } = await signedIn(t, world, dana, { at: ['limits', 'Limits'] });
  const rows = page.getByRole('region', { name: 'Limits' }).getByRole('row');
  await reads(t, rows, /DanaMemberWeekly3\.00 of 4\.00 left/);
  await reads(t, rows, /AccountMonthly50\.00 credits/, 'what the account spent is hidden');
  await reads(t, rows.filter({ hasText: 'Member' }), /Set by an admin/);
});

t.test('the operator edits the limits of an account where it is set up', async (t) => {
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}/limits`, 'Limits'],
  });
  t.equal(
    await page.getByRole('link', { name: 'Edit the limits of northwind@example.com' }).getAttribute('href'),
    `/dashboard/operator/accounts/${accountId}/settings`,
  );
});
