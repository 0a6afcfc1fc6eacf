import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { apiOf } from '../clients/api.ts';
import { startReceiver } from '../stand-ins/receiver.ts';
import { ADMIN_TOKEN, type InProcessGateway, startOwnGateway } from '../start/gateway-in-process.ts';
import { type Dashboard, openDashboard, type View } from './dashboard.ts';

/** Accounts and keys that fill every page, and one that leaves every page empty. */
interface Sights {
  readonly world: InProcessGateway;
  readonly owner: { readonly accountId: number; readonly keyId: number; readonly key: string };
  /** Id of a key with every restriction. */
  readonly limitedId: number;
  /** The value of a key that can't manage. */
  readonly reader: string;
  /** The value of a key whose account has no credits, calls or alerts. */
  readonly fresh: string;
}

/**
 * Adds tests that open every page of the dashboard in a view. They check each page with axe in the given colour
 * schemes, and that it fits the width.
 */
export async function inspectEveryPage(
  t: Test,
  view: View,
  schemes: readonly Scheme[] = ['light'],
): Promise<void> {
  const sights = await makeSights(t);
  for (const [who, tour] of Object.entries(TOURS)) {
    void t.test(`pages of ${who} are accessible, and fit`, async (t) => {
      const dashboard = await openDashboard(t, sights.world, view);
      await tour(dashboard, sights, async (what) => {
        for (const [at, scheme] of schemes.entries()) {
          await showIn(dashboard.page, scheme);
          const rules = at === 0 ? ALL_RULES : RULES_OF_COLOUR;
          t.same(await accessibilityFaults(dashboard.page, rules), [], `${what}: accessible, ${scheme}`);
        }
        const tooWide = await dashboard.page.evaluate('document.documentElement.scrollWidth - innerWidth');
        t.ok(Number(tooWide) <= 0, `${what}: fits the screen`);
      });
      t.same(dashboard.faults, [], 'nothing went wrong in the page');
      const elsewhere = dashboard.requests.filter((address) => !address.startsWith(`${sights.world.url}/`));
      t.same(elsewhere, [], 'nothing was asked from elsewhere');
    });
  }
}

type Scheme = 'light' | 'dark';

async function showIn(page: Page, colorScheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(RECOLOURED);
}

/** Scripts have applied the scheme by the second frame; this then finishes the transitions. */
const RECOLOURED = `new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go))).then(() => {
  for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
})`;

async function makeSights(t: Test): Promise<Sights> {
  const world = await startOwnGateway(t);
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());

  const owner = await world.account({ credits: 100, threshold: 500, key: { webhookUrl: receiver.url } });
  const { body: limited } = await apiOf(world, owner.key).post<{ id: number }>('/api/keys/', {
    name: 'Limited',
    description: 'A note that is longer than the column in which it stands, and so is cut off at its end',
    allowed_ips: ['203.0.113.0/24', '2001:db8:1234:5678:9abc:def0:1234:5678'],
    allowed_origins: ['https://a-rather-long-name-of-a-host.department.example.com'],
    blocked_countries: ['GB', 'BO'],
    active_hours: '22:00-06:00',
    spending_limit: 0.5,
    rpm_limit: 100_000_000_000,
    tpm_limit: 100_000_000_000,
    max_parallel_requests: 100_000_000_000,
    expires_at: '2001-01-01T00:00:00Z',
  });
  await apiOf(world, owner.key).post(`/api/keys/${limited.id}/rotate/`, { grace_seconds: 100_000 });
  await apiOf(world, ADMIN_TOKEN).patch(`/api/admin/accounts/${owner.accountId}/`, {
    rpm_limit: 100_000_000_000,
    tpm_limit: 100_000_000_000,
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
  return { world, owner, limitedId: limited.id, reader: reader.key, fresh: fresh.key };
}

/** Checks the current page; `what` names it in the report. */
type Look = (what: string) => Promise<void>;

async function seeOwnersPages({ page, open, signIn }: Dashboard, sights: Sights, look: Look): Promise<void> {
  await look('sign-in');
  await signIn('sk-tg-wrong');
  await page.getByText('does not exist').waitFor();
  await look('sign-in, refused');
  await signIn(sights.owner.key);
  await page.locator('.stacked svg').first().waitFor();
  await look('home with low credits');
  await page.getByText('View as table').click();
  await look('home with its table');
  await page.getByRole('button', { name: 'Send a test call' }).click();
  await page.getByLabel('Request ID').waitFor();
  await look('home with the answer to a test call');

  await open('usage', 'Usage');
  await page.getByRole('region', { name: 'Usage by model' }).waitFor();
  await look('usage');
  await page.getByText('Custom').click();
  await page.getByLabel('From (UTC)').waitFor();
  await look('usage, choosing days');
  await open('requests', 'Requests');
  await page
    .getByRole('button', { name: / Request / })
    .first()
    .click();
  await page.getByRole('dialog', { name: 'Request' }).getByText('Computed').waitFor();
  await look('request');
  await page.keyboard.press('Escape');
  await open('models', 'Models');
  await page.getByRole('region', { name: 'Models' }).locator('tbody tr').first().waitFor();
  await look('models');
  await page.getByRole('button', { name: 'flat', exact: true }).click();
  await page.getByRole('dialog', { name: 'flat' }).waitFor();
  await look('model');
  await page.keyboard.press('Escape');

  await open('keys', 'Keys');
  await page.getByRole('link', { name: 'Limited' }).waitFor();
  await look('keys');
  await page.getByLabel('Select Reader').check();
  await page.getByText('1 key selected').waitFor();
  await look('keys with one selected');
  await page.locator('.selection').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog', { name: 'Deactivate 1 key?' }).waitFor();
  await look('question before selected keys are deactivated');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await open('keys/new', 'Create key');
  await page.getByLabel('flat text', { exact: true }).waitFor();
  await look('new key');
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('1.2.3.');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('The name must be').waitFor();
  await look('new key, refused');
  await page.getByRole('link', { name: '← Keys' }).click();
  await page.getByRole('dialog', { name: 'Leave this page?' }).waitFor();
  await look('question before leaving');
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
  await open(`keys/${sights.limitedId}`, 'Limited');
  await page.getByText('No changes.').waitFor();
  await look('key with every restriction');
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await look('question before deactivating');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  await page.getByLabel('Grace period for the current value').selectOption('own');
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  await page.getByText('must be a whole number').waitFor();
  await look('question before rotating, refused');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'End now' }).click();
  await look('question before the previous value is ended');
  await page.keyboard.press('Escape');

  await open(`explain/${sights.limitedId}`, 'Explain a call');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText('this is the response').waitFor();
  await look('explanation');
  await open('billing', 'Billing');
  await page.getByRole('cell', { name: 'Top-up' }).waitFor();
  await page
    .getByRole('button', { name: /Details of/ })
    .first()
    .click();
  await page.getByRole('dialog').getByText('Balance after').waitFor();
  await look('ledger with the details of an entry');
  await page.keyboard.press('Escape');
  await open('alerts', 'Alerts');
  await page.getByText('Test alert', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show the secret' }).click();
  await page.getByRole('button', { name: 'Change alert threshold' }).click();
  await look('alerts');

  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/v1/models', async (route) => {
    await asked;
    await route.fulfill({ status: 503, body: '{}' });
  });
  await open('models', 'Models');
  await page.getByRole('status', { name: 'Loading…' }).waitFor();
  await look('models while they load');
  answer();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await look('models that failed to load');
  await page.unroute('**/v1/models');

  await open('keys/new', 'Create key');
  await page.getByLabel('Name', { exact: true }).fill('New');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('region', { name: 'Snippet for curl' }).waitFor();
  await look('value of a new key, with how to use it');
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByText('No changes.').waitFor();
  await open(`keys/${sights.owner.keyId}`, 'Key');
  await page.getByLabel('Can manage keys').uncheck();
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('dialog', { name: 'Lock yourself out?' }).waitFor();
  await look('question before a lock-out');
}

async function seeEmptyPages({ page, open, signIn }: Dashboard, sights: Sights, look: Look): Promise<void> {
  await signIn(sights.fresh);
  await page.getByText('No calls in this range').waitFor();
  await look('home of an empty account');
  await open('billing', 'Billing');
  await page.getByText('The ledger is empty').waitFor();
  await look('empty ledger');
  await open('alerts', 'Alerts');
  await page.getByText('No alerts yet').waitFor();
  await look('no alerts');
  await open('keys/999999', 'Key');
  await page.getByText('Key not found').waitFor();
  await look('no such key');
}

async function seeReadersPages({ page, open, signIn }: Dashboard, sights: Sights, look: Look): Promise<void> {
  await signIn(sights.reader);
  await page.getByText('No calls in this range').waitFor();
  await look('home of a key');
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('heading', { level: 1, name: 'Reader' }).waitFor();
  await page.getByText('Blocked countries').waitFor();
  await look('key, read only');
  await open('requests', 'Requests');
  await page.getByText('No requests in this range').waitFor();
  await look('requests of a key');
}

async function seeOperatorsPages(
  { page, open, signIn }: Dashboard,
  sights: Sights,
  look: Look,
): Promise<void> {
  await signIn(ADMIN_TOKEN);
  await page.getByRole('heading', { name: 'Largest accounts' }).waitFor();
  await look('home of the operator');
  await open('accounts', 'Accounts');
  await page.getByRole('region', { name: 'Accounts' }).waitFor();
  await look('accounts');
  await open('requests', 'Requests');
  await page
    .getByRole('button', { name: / Request / })
    .first()
    .waitFor();
  await look('requests of all accounts');
  await open('health', 'Health');
  await page.getByRole('region', { name: 'Health' }).waitFor();
  await look('health');
  await open('accounts/new', 'Create account');
  await look('new account');
  await open(`accounts/${sights.owner.accountId}`, /@example\.com/);
  await look('account');
  await page.getByLabel('Credits', { exact: true }).fill('5');
  await page.getByRole('button', { name: 'Top up' }).click();
  await page.getByRole('dialog').waitFor();
  await look('question before a top-up');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByLabel('Credits', { exact: true }).fill('');
  for (const [part, sight] of [
    ['requests', page.getByRole('button', { name: / Request / }).first()],
    ['usage', page.locator('.stacked svg').first()],
    ['models', page.getByText('May call').first()],
    ['explain', page.getByRole('button', { name: 'Explain' })],
    ['billing', page.getByRole('cell', { name: 'Top-up' })],
    ['alerts', page.getByText('Test alert', { exact: true })],
    ['keys', page.getByRole('button', { name: 'Deactivate Limited' })],
  ] as const) {
    await open(`accounts/${sights.owner.accountId}/${part}`, /@example\.com/);
    await sight.waitFor();
    await look(`${part} of an account`);
  }
  await page.getByRole('button', { name: 'Limited', exact: true }).click();
  await page.getByRole('dialog').getByText('Blocked countries').waitFor();
  await look('settings of a key, for the operator');
  await page.keyboard.press('Escape');
  await open('usage', 'Usage');
  await page.getByRole('region', { name: 'Usage' }).waitFor();
  await look('usage of all accounts');
  await open('providers', 'Providers');
  await look('providers');
  await open('models', 'Models');
  await page.getByRole('region', { name: 'Models' }).locator('tbody tr').first().waitFor();
  await look('models of the operator');
  await open(`accounts/${sights.owner.accountId}/keys`, /@example\.com/);
  await page.getByLabel('Name of the key').fill('New');
  await page.getByRole('button', { name: 'Create key for the owner' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Key value').waitFor();
  await look('value of a new key');
}

const TOURS = {
  'an owner': seeOwnersPages,
  'an owner with nothing yet': seeEmptyPages,
  'a key that may not manage': seeReadersPages,
  'an operator': seeOperatorsPages,
};

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Rules that depend on the colour scheme. Running only these in the second scheme halves the time of a look. */
const RULES_OF_COLOUR = ['color-contrast', 'link-in-text-block'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/**
 * Resolves with the violations of these rules, or tags of rules, that axe finds in the current page. Each line has the
 * rule, the element and the reason.
 */
export async function accessibilityFaults(page: Page, runOnly = ALL_RULES): Promise<string[]> {
  // Injected by the debugger, because the content security policy of the page refuses a script tag. Once per document,
  // because it is half a megabyte.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  // Skips the description and transfer of rules that pass.
  const options = { runOnly, resultTypes: ['violations'], preload: false };
  const violations = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as readonly Violation[];
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary.replaceAll('\n', ' ')}`),
  );
}
