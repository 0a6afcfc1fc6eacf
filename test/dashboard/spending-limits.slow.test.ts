import t from 'tap';
import type { OperatorAccountView } from '../../src/api/account/account-view.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { keysOf, makeKey, openDashboard, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const operator = apiOf(world, ADMIN_TOKEN);
const FIELD = 'More spending limits';

t.test(
  'several limits of a key are typed in a line, saved, and asked about before they are lost',
  async (t) => {
    await dayThatLasts();
    const owner = await world.account();
    const { id } = await makeKey(world, owner.key, {
      name: 'App',
      spending_limits: [{ period: 'total', credits: 9 }],
    });
    const { page } = await signedIn(t, world, owner.key, { at: [`keys/${id}`, 'App'] });
    const field = page.getByLabel(FIELD);
    t.equal(await field.inputValue(), 'total=9');
    await reads(
      t,
      page.locator('.call-limits'),
      /^Total spending limit of the key: 9\.00 left of 9\.00 credits\.$/m,
    );
    await field.fill('5h=2, hourly=1');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.locator('#field-spending_limits-error').getByText('“hourly=1” is no limit such as').waitFor();
    await page.locator('input[name=spending_limits]:focus').waitFor();
    await page.getByRole('link', { name: 'Requests', exact: true }).first().click();
    const question = page.getByRole('dialog', { name: 'Leave this page?' });
    await question.getByRole('button', { name: 'Stay' }).click();
    await field.fill('5h=2, monthly=100.5');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.getByRole('button', { name: 'Save changes' }).click();
    const limits = [
      { period: '5h', credits: 2 },
      { period: 'monthly', credits: 100.5 },
    ];
    t.same((await sent).postDataJSON(), { spending_limits: limits });
    await page.getByText('Key “App” saved.').waitFor();
    t.match((await keysOf(world, owner.key)).at(-1), { spending_limits: limits });
  },
);

t.test('Home of a limited key says what is left of each limit, and when it returns', async (t) => {
  await dayThatLasts();
  const owner = await world.account();
  const spending_limits = [
    { period: '5h', credits: 2 },
    { period: 'daily', credits: 5 },
    { period: 'total', credits: 9 },
  ];
  const reader = await makeKey(world, owner.key, { name: 'Reader', can_manage: false, spending_limits });
  await operator.patch(`/api/admin/accounts/${owner.accountId}/`, {
    spending_limits: [{ period: 'weekly', credits: 7 }],
  });
  const { page, signIn } = await openDashboard(t, world);
  await signIn(reader.key);
  const lines = page.locator('.call-limits');
  await reads(
    t,
    lines,
    /^Five-hour spending limit of the key: 2\.00 left .*\. Its period begins with the next call\.$/m,
  );
  await (await world.chat(reader.key)).text();
  await world.settled();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await reads(
    t,
    lines,
    /^Five-hour spending limit of the key: 1\.00 left of 2\.00 credits, resets in [45] h \d+ min\.$/m,
  );
  await reads(t, lines, /^Daily spending limit of the key: 4\.00 left of 5\.00 credits, resets in \d.*\.$/m);
  await reads(t, lines, /^Total spending limit of the key: 8\.00 left of 9\.00 credits\.$/m);
  await reads(t, lines, /^Weekly spending limit of the account: 7\.00 credits, resets in \d.*\.$/m);
  await page.getByRole('link', { name: 'Settings' }).click();
  await reads(t, page.locator('.settings'), /More spending limits5h=2, daily=5, total=9/);
});

t.test('the operator limits an account, and its owner sees what is left', async (t) => {
  await dayThatLasts();
  const { accountId, key } = await world.account({ email: 'limited@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}`, 'limited@example.com'],
  });
  const field = page.getByLabel('Spending limits');
  await field.fill('monthly');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('#field-spending_limits-error').getByText('“monthly” is no limit such as').waitFor();
  await field.fill('monthly=3');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Account saved.').waitFor();
  const line = /^Monthly spending limit of the account: 3\.00 left of 3\.00 credits, resets in \d.*\.$/m;
  await reads(t, page.locator('.call-limits'), line);
  const { body } = await operator.get<OperatorAccountView>(`/api/admin/accounts/${accountId}/`);
  t.same(body.spending_limits, [{ period: 'monthly', credits: 3 }]);
  const { page: own } = await signedIn(t, world, key);
  await reads(t, own.locator('.call-limits'), line);
});
