import t from 'tap';
import { apiOf } from '../helper/api.ts';
import { accessibilityFaults } from '../helper/axe.ts';
import { type Dashboard, openDashboard, type View } from '../helper/dashboard.ts';
import { startReceiver } from '../helper/receiver.ts';
import { ADMIN_TOKEN, startWorld } from '../helper/world.ts';

const world = await startWorld(t);
const receiver = await startReceiver();
t.teardown(() => receiver.close());

/** An account in which every page has something to show. */
const owner = await world.account({ credits: 100, threshold: 500, key: { webhookUrl: receiver.url } });
const { body: limited } = await apiOf(world, owner.key).post<{ id: number }>('/api/keys/', {
  name: 'Limited',
  description: 'A note that is longer than the column in which it stands, and so is cut off at its end',
  allowed_ips: ['203.0.113.0/24', '2001:db8:1234:5678:9abc:def0:1234:5678'],
  allowed_origins: ['https://a-rather-long-name-of-a-host.department.example.com'],
  blocked_countries: ['GB', 'BO'],
  active_hours: '22:00-06:00',
  spending_limit: 0.5,
  expires_at: '2001-01-01T00:00:00Z',
});
const { body: reader } = await apiOf(world, owner.key).post<{ key: string }>('/api/keys/', {
  name: 'Reader',
  can_manage: false,
});
for (const model of ['flat', 'renamed']) await (await world.chat(owner.key, { model })).text();
await world.settled();
await apiOf(world, owner.key).post('/api/account/alerts/test/');
await receiver.next();
const fresh = await world.account({ credits: 0, threshold: 1 });

/** Looks at the page, and fails the test by what is wrong with it. */
type Look = (what: string) => Promise<void>;

async function seeOwnersPages({ page, open, signIn }: Dashboard, look: Look): Promise<void> {
  await look('sign-in');
  await signIn('sk-tg-wrong');
  await page.getByText('not known here').waitFor();
  await look('sign-in, refused');
  await signIn(owner.key);
  await page.locator('.chart canvas').waitFor();
  await look('overview with low credits');
  await page.getByText('The same as a table').click();
  await page.getByRole('button', { name: 'Change the alert threshold' }).click();
  await look('overview with its table, and the threshold being changed');

  await open('keys', 'Keys');
  await page.getByRole('link', { name: 'Limited' }).waitFor();
  await look('keys');
  await open('keys/new', 'Create key');
  await page.getByLabel('flat text', { exact: true }).waitFor();
  await look('new key');
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('1.2.3.');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('The name must be').waitFor();
  await look('new key, refused');
  await open(`keys/${limited.id}`, 'Limited');
  await page.getByText('Nothing is changed.').waitFor();
  await look('key with every restriction');
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await look('question before deactivating');
  await page.keyboard.press('Escape');

  await open(`explain/${limited.id}`, 'Explain a call');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText('this is what is answered').waitFor();
  await look('explanation');
  await open('ledger', 'Ledger');
  await page.getByRole('cell', { name: 'Top-up' }).waitFor();
  await look('ledger');
  await open('alerts', 'Alerts');
  await page.getByText('Test alert', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show the secret' }).click();
  await look('alerts');
}

async function seeEmptyPages({ page, open, signIn }: Dashboard, look: Look): Promise<void> {
  await signIn(fresh.key);
  await page.getByText('No calls in the last 30 days').waitFor();
  await look('overview of an empty account');
  await open('ledger', 'Ledger');
  await page.getByText('The ledger is empty').waitFor();
  await look('empty ledger');
  await open('alerts', 'Alerts');
  await page.getByText('No alert yet').waitFor();
  await look('no alerts');
  await open('keys/999999', 'Key');
  await page.getByText('There is no such key').waitFor();
  await look('no such key');
}

async function seeReadersPages({ page, open, signIn }: Dashboard, look: Look): Promise<void> {
  await signIn(reader.key);
  await page.locator('.chart canvas').waitFor();
  await open(`keys/${limited.id}`, 'Limited');
  await page.getByText('may not manage').waitFor();
  await look('key, read only');
}

async function seeOperatorsPages({ page, open, signIn }: Dashboard, look: Look): Promise<void> {
  await signIn(ADMIN_TOKEN);
  await page.getByRole('region', { name: 'Accounts' }).waitFor();
  await look('accounts');
  await open('accounts/new', 'Create account');
  await look('new account');
  await open(`accounts/${owner.accountId}`, /@example\.com/);
  await look('account');
  await page.getByRole('button', { name: 'Create key for the owner' }).click();
  await page.getByLabel('Key value').waitFor();
  await look('value of a new key');
}

const TOURS = { owner: seeOwnersPages, empty: seeEmptyPages, reader: seeReadersPages, operator: seeOperatorsPages };
const VIEWS: Readonly<Record<string, View>> = {
  light: { scheme: 'light' },
  dark: { scheme: 'dark' },
  'phone, light': { scheme: 'light', width: 360, height: 740 },
  'phone, dark': { scheme: 'dark', width: 360, height: 740 },
};

for (const [name, view] of Object.entries(VIEWS)) {
  t.test(`every page is accessible and fits: ${name}`, async (t) => {
    for (const tour of Object.values(TOURS)) {
      const dashboard = await openDashboard(t, world, view);
      await tour(dashboard, async (what) => {
        t.same(await accessibilityFaults(dashboard.page), [], `${what}: accessible`);
        const tooWide = await dashboard.page.evaluate('document.documentElement.scrollWidth - innerWidth');
        t.ok(Number(tooWide) <= 0, `${what}: fits the screen`);
      });
      t.same(dashboard.faults, [], 'nothing went wrong in the page');
      t.same(
        dashboard.requests.filter((address) => !address.startsWith(`${world.url}/`)),
        [],
        'nothing was asked from elsewhere',
      );
    }
  });
}

t.test('the dark scheme is dark', async (t) => {
  for (const [scheme, isDark] of [
    ['light', false],
    ['dark', true],
  ] as const) {
    const { page } = await openDashboard(t, world, { scheme });
    const ground = String(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
    const brightness = Math.max(...[...ground.matchAll(/\d+/g)].map(Number));
    t.equal(brightness < 64, isDark, `${scheme}: ${ground}`);
  }
});

t.test('a dialog takes the focus and gives it back', async (t) => {
  const { page, signIn, open } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await open(`keys/${limited.id}`, 'Limited');
  await page.getByRole('button', { name: 'Deactivate' }).focus();
  await page.keyboard.press('Enter');
  t.ok(await page.evaluate("document.querySelector('dialog').contains(document.activeElement)"));
  await page.keyboard.press('Escape');
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Deactivate');
});

t.test('a page that is gone to has its title focused, to be read out', async (t) => {
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.getByRole('link', { name: 'Ledger' }).press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
  await page.waitForFunction("document.activeElement.textContent === 'Ledger' && document.activeElement.tagName === 'H1'");
  t.equal(await page.title(), 'Ledger · Tollgate');
});
