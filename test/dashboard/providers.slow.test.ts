import t from 'tap';
import { openDashboard, reads } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN } from '../helper/start/gateway-in-process.ts';
import { startTargetsGateway } from '../helper/start/targets-gateway.ts';

t.test('a target that failed is out, and the entry of the call names each try', async (t) => {
  const world = await startTargetsGateway(t);
  const { key } = await world.account();
  world.behave('a', {
    status: 503,
    headers: { 'retry-after': '3600' },
    body: { error: { message: 'busy' } },
  });
  for (let calls = 0; calls < 3; calls++) await (await world.chat(key, { model: 'ranked' })).text();
  await world.settled();

  const operator = await openDashboard(t, world);
  await operator.signIn(ADMIN_TOKEN);
  await operator.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await operator.open('providers', 'Providers');
  const rowAt = (place: string) =>
    operator.page
      .getByRole('region', { name: `Targets at ${place}`, exact: true })
      .getByRole('row', { name: /^ranked/ });
  await rowAt('a').getByText('HTTP 503: busy').waitFor();
  await reads(t, rowAt('a'), /Outuntil .+00%/);
  await reads(t, rowAt('b'), /Up3100%[\d,]+ ms–/);

  const owner = await openDashboard(t, world);
  await owner.signIn(key);
  await owner.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await owner.open('billing', 'Billing');
  await owner.page
    .getByRole('row', { name: /Charge ranked/ })
    .first()
    .getByRole('button')
    .click();
  const detail = owner.page.getByRole('dialog', { name: 'Charge' });
  await detail.waitFor();
  await reads(t, detail, /Tried ata \(503, [\d.,]+ m?s\); b \(200, [\d.,]+ m?s\)/);
});
