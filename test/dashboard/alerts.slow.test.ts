import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { type openDashboard, signedIn } from '../helper/dashboard/dashboard.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);

async function alerts(t: Parameters<typeof openDashboard>[0], key: string) {
  const { page } = await signedIn(t, world, key, { at: ['alerts', 'Alerts'] });
  return page;
}

t.test('a test alert is sent, and its outcomes are shown', async (t) => {
  const receiver = await startReceiver();
  const refusing = await startReceiver({
    respond: (_request, response) => {
      response.statusCode = 500;
      response.end();
    },
  });
  t.teardown(() => Promise.all([receiver.close(), refusing.close()]));
  const { key } = await world.account({ key: { name: 'Good', webhookUrl: receiver.url } });
  await world.api('POST', '/api/keys/', key, { name: 'Refusing', webhook_url: refusing.url });
  const page = await alerts(t, key);
  await page.getByText('No alerts yet').waitFor();
  await page.getByRole('button', { name: 'Send test alert' }).click();
  await page.getByText('Test alert: 1 of 2 delivered.').waitFor();
  await page.getByRole('row', { name: /^Good Delivered 200 after \d+ ms/ }).waitFor();
  await page
    .getByRole('row', {
      name: /^Refusing Failed The receiver did not return a 2xx status\. 500 after \d+ ms/,
    })
    .waitFor();
  t.match(JSON.parse((await receiver.next()).body), { event: 'low_credits' });
});

t.test('an alert by a crossing is shown with its balance', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const { key } = await world.account({
    credits: 10,
    threshold: 10,
    key: { name: 'Watcher', webhookUrl: receiver.url },
  });
  await (await world.chat(key)).text();
  await receiver.next();
  const page = await alerts(t, key);
  await page.getByText(/^Low credits .*, at a balance of 9\.00$/).waitFor();
  t.equal(await page.getByText('Test alert', { exact: true }).count(), 0);
});

t.test('without a webhook there is nothing to test', async (t) => {
  const { key } = await world.account();
  const page = await alerts(t, key);
  await page.getByText('No active key has a webhook. Set one on a key first.').waitFor();
  t.ok(await page.getByRole('button', { name: 'Send test alert' }).isDisabled());
});

t.test('Alerts named nobody before something was sent', async (t) => {
  const { key } = await world.account({
    key: { name: 'Watcher', webhookUrl: 'https://hooks.example.com/credits' },
  });
  const page = await alerts(t, key);
  await page
    .getByRole('region', { name: 'Receivers' })
    .getByRole('row', { name: /^Watcher https:\/\/hooks\.example\.com\/credits Nothing was sent yet –$/ })
    .waitFor();
  await page.getByText('Sends a test alert to one webhook.').waitFor();
  t.equal(await page.getByText('No alerts yet').count(), 1);
});

t.test("the operator sees an account's Alerts whole, but not its webhook secret", async (t) => {
  const { accountId } = await world.account({
    key: { name: 'Watcher', webhookUrl: 'https://hooks.example.com/' },
  });
  const { page, open } = await signedIn(t, world, ADMIN_TOKEN);
  await open(`accounts/${accountId}/alerts`, 'Alerts');
  await page
    .getByRole('region', { name: 'Receivers' })
    .getByRole('row', { name: /^Watcher/ })
    .waitFor();
  t.equal(await page.getByText('Show the secret').count(), 0);
  t.equal(await page.getByText('Send test alert').count(), 0, 'tests are sent by the people of the account');
});

t.test('the webhook secret is shown when it is asked for', async (t) => {
  const { key } = await world.account();
  const page = await alerts(t, key);
  await page.getByRole('button', { name: 'Show the secret' }).click();
  t.match(await page.getByLabel('Webhook secret').inputValue(), /^whsec_/);
});

/** An address that refuses connections. Another process may have taken the port of a receiver that has ended. */
const NOBODY = 'http://127.0.0.1:1/hook';

t.test('L13: each reason why an alert was not delivered has its own text', async (t) => {
  const moved = await startReceiver({
    respond: (_request, response) => {
      response.writeHead(302, { location: '/elsewhere' });
      response.end();
    },
  });
  t.teardown(() => moved.close());
  const { key } = await world.account({ key: { name: 'Moved', webhookUrl: moved.url } });
  await world.api('POST', '/api/keys/', key, { name: 'Gone', webhook_url: NOBODY });
  const page = await alerts(t, key);
  await page.getByRole('button', { name: 'Send test alert' }).click();
  await page.getByText('Test alert: 0 of 2 delivered.').waitFor();
  await page
    .getByRole('row', { name: /^Moved Failed The receiver returned a redirect, .* 302 after \d+ ms/ })
    .waitFor();
  await page
    .getByRole('row', {
      name: /^Gone Failed The receiver refused the connection[^/]* None, given up after \d+ ms/,
    })
    .waitFor();
});

t.test('a test alert too many says when the next one may be sent', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const { key } = await world.account({ key: { webhookUrl: receiver.url } });
  for (let sent = 0; sent < 5; sent++) await world.api('POST', '/api/account/alerts/test/', key);
  const page = await alerts(t, key);
  await page.getByRole('button', { name: 'Send test alert' }).click();
  const words = await page.getByRole('alert').textContent();
  t.match(words, /5 test alerts a minute\. Try again in \d+ seconds?\./);
});

t.test('the threshold can be changed in place', async (t) => {
  const owner = await world.account({ credits: 50, threshold: 10 });
  const { page, open } = await signedIn(t, world, owner.key, { at: ['alerts', 'Alerts'] });
  await page.getByRole('button', { name: 'Change alert threshold' }).click();
  const field = page.getByLabel('Alert threshold in credits');
  await field.fill('-1');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The threshold must be').waitFor();
  t.equal(
    await field.getAttribute('aria-invalid'),
    'true',
    'one that cannot be is refused where it is typed',
  );
  await field.fill('75.5');
  await page.keyboard.press('Enter');
  await page.getByText('Alert threshold changed.').waitFor();
  const { body } = await apiOf(world, owner.key).get<{ alert_threshold: number }>('/api/account/');
  t.equal(body.alert_threshold, 75.5);
  await open('home', 'Home');
  await page.getByText('The balance of 50.00 is below the alert threshold of 75.50.').waitFor();
});
