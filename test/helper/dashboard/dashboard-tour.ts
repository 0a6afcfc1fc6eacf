import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import type { Person } from '../../../src/domain/people.ts';
import { apiOf } from '../clients/api.ts';
import { startReceiver } from '../stand-ins/receiver.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../start/gateway-in-process.ts';
import { memberIn, newEmail, personOn } from '../start/people.ts';
import { openDashboard, type View } from './dashboard.ts';

/** Accounts, keys and people that fill every page, and an account that leaves every page empty. */
type Sights = Awaited<ReturnType<typeof makeSights>>;

/**
 * A page, its title, and a selector of something that shows that its data has loaded. `act` opens a dialog on it, or
 * changes it otherwise.
 */
type Stop = readonly [
  route: string,
  title: string,
  sight: string,
  act?: (page: Page, sights: Sights) => Promise<void>,
];

/** Pages in the order in which somebody visits them. `who`: a key, the admin token, or a person; default: nobody. */
interface Tour {
  readonly who?: string | Person;
  /** Path of the routes, if it is not that of the first page. */
  readonly below?: string;
  readonly stops: readonly Stop[];
}

/**
 * Adds tests that open every page of the dashboard in a view, as everybody who can sign in. They check each page with
 * axe in the given colour schemes, and that it fits the width.
 */
export async function inspectEveryPage(
  t: Test,
  view: View,
  schemes: readonly Scheme[] = ['light'],
): Promise<void> {
  const sights = await makeSights(t);
  for (const [name, { who, below = '', stops }] of Object.entries(toursOf(sights))) {
    void t.test(`pages of ${name} are accessible, and fit`, async (t) => {
      const { page, open, signIn, faults, requests } = await openDashboard(t, sights.world, view);
      if (who) await signIn(who);
      for (const [route, title, sight, act] of stops) {
        await open(`${below}${route}`, title);
        await page.locator(sight).first().waitFor();
        await act?.(page, sights);
        const what = `${route}${act ? ` with ${act.name}` : ''}`;
        for (const [at, scheme] of schemes.entries()) {
          await showIn(page, scheme);
          const rules = at === 0 ? ALL_RULES : RULES_OF_COLOUR;
          t.same(await accessibilityFaults(page, rules), [], `${what}: accessible, ${scheme}`);
        }
        const tooWide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        t.ok(Number(tooWide) <= 0, `${what}: fits the screen`);
      }
      t.same(faults, [], 'nothing went wrong in the page');
      const elsewhere = requests.filter((address) => !address.startsWith(`${sights.world.url}/`));
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

async function makeSights(t: Test) {
  const world = await startOwnGateway(t);
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const admin = apiOf(world, ADMIN_TOKEN);

  const account = await world.account({
    credits: 100,
    threshold: 500,
    email: 'northwind@example.com',
    key: { name: 'First', webhookUrl: receiver.url },
  });
  const api = apiOf(world, account.key);
  const keyWith = async (settings: object) =>
    (await api.post<{ id: number; key: string }>('/api/keys/', settings)).body;
  const limited = await keyWith({
    name: 'Limited',
    description: 'A note that is longer than the column in which it stands, and so is cut off at its end',
    allowed_ips: ['203.0.113.0/24', '2001:db8:1234:5678:9abc:def0:1234:5678'],
    allowed_origins: ['https://a-rather-long-name-of-a-host.department.example.com'],
    blocked_countries: ['GB', 'BO'],
    active_hours: '22:00-06:00',
    spending_limits: [{ period: 'daily', credits: 0.5 }],
    rpm_limit: 100_000_000_000,
    tpm_limit: 100_000_000_000,
    max_parallel_requests: 100_000_000_000,
    expires_at: '2001-01-01T00:00:00Z',
  });
  await api.post(`/api/keys/${limited.id}/rotate/`, { grace_seconds: 100_000 });
  await admin.patch(`/api/admin/accounts/${account.accountId}/`, {
    rpm_limit: 100_000_000_000,
    tpm_limit: 100_000_000_000,
    spending_limits: [{ period: 'monthly', credits: 40 }],
  });
  const reader = await keyWith({ name: 'Reader', spending_limits: [{ period: 'daily', credits: 8 }] });
  const owner = await memberIn(world, account.accountId, { role: 'owner' }, { name: 'Olga' });
  const limits = [{ period: 'weekly', credits: 12.5 }];
  const offer = { role: 'member', spending_limits: limits };
  const member = await memberIn(world, account.accountId, offer, { name: 'Raj' });
  const mine = await keyWith({ name: 'Mine', person_id: member.id });
  const operator = await personOn(world, { name: 'Opal', isOperator: true });

  const models = ['flat', 'renamed', 'unknown'];
  for (const { key } of [account, reader, mine]) {
    for (const model of models) await (await world.chat(key, { model })).text();
  }
  await world.settled();
  await api.post('/api/account/alerts/test/');
  await receiver.next();
  const invitation = { role: 'viewer', email: newEmail() };
  const path = `/api/admin/accounts/${account.accountId}/invitations/`;
  const { link: invite } = (await admin.post<{ link: string }>(path, invitation)).body;
  const { link: reset } = (await admin.post<{ link: string }>(`/api/admin/people/${member.id}/reset/`)).body;
  const fresh = await world.account({ credits: 0, threshold: 1, email: 'fresh@example.com' });
  return { world, account, limited, reader, mine, owner, member, operator, fresh, links: { invite, reset } };
}

const region = (name: string) => `role=region[name="${name}"] >> tbody tr`;
const text = (words: string) => `text=${words}`;

/** Pages of an account that the operator sees too. */
function pagesOfAccount({ member, limited }: Sights): readonly Stop[] {
  return [
    ['requests', 'Requests', region('Requests'), details],
    ['requests?view=grouped', 'Requests', region('Grouped errors')],
    ['usage', 'Usage', region('Usage by model')],
    ['usage?group_by=key&range=24h', 'Usage', region('Usage by key')],
    ['keys', 'Keys', region('Keys')],
    ['keys/new', 'Create key', text('More settings'), moreSettings],
    [`keys/${limited.id}`, 'Limited', text('Last calls'), rotation],
    [`keys/${limited.id}?part=limits`, 'Limited', text('No changes.')],
    [`keys/${limited.id}?part=access`, 'Limited', text('No changes.')],
    [`keys/${limited.id}?part=settings`, 'Limited', text('No changes.'), deactivation],
    ['members', 'Members', region('Members'), invitation],
    [`members?member=${member.id}`, 'Members', 'role=dialog >> text=Member since'],
    ['limits?show=all', 'Limits', region('Limits')],
    ['billing', 'Billing', 'role=region[name=/^Statement of /] >> tbody tr'],
    ['billing?view=entries', 'Billing', region('Ledger entries'), details],
    ['alerts', 'Alerts', text('Test alert')],
    ['audit', 'Audit', region('Audit log'), details],
  ];
}

function toursOf(sights: Sights): Readonly<Record<string, Tour>> {
  const { account, limited, reader, mine, owner, member, operator, fresh, links } = sights;
  const chart = '.chart-plot svg';
  return {
    nobody: {
      stops: [
        ['/sign-in', 'Sign in', text('Forgot your password?'), refusal],
        [pathOf(links.invite), 'Invitation', text('I have signed in here before')],
        [pathOf(links.reset), 'New password', text('Set password')],
        ['/invite', 'Invitation', text('Open the link')],
      ],
    },
    'an owner': {
      who: owner,
      stops: [
        ['home', 'Home', chart, table],
        ...pagesOfAccount(sights),
        [`keys/${limited.id}?part=settings`, 'Limited', text('No changes.'), conflict],
        ['models', 'Models', region('Models')],
        ['models?model=flat', 'Models', 'role=dialog'],
        ['settings', 'Settings', text('Set by the operator')],
        ['/me', 'Me', region('Accounts')],
      ],
    },
    'a member': {
      who: member,
      stops: [
        ['home', 'Home', chart],
        ['requests', 'Requests', region('Requests')],
        ['usage', 'Usage', region('Usage by model')],
        ['keys', 'My keys', region('Keys')],
        ['keys/new', 'Create key', text('More settings'), question],
        [`keys/${mine.id}?part=limits`, 'Mine', text('locked the restrictions')],
        [`keys/${mine.id}?part=settings`, 'Mine', text('No changes.')],
        ['models', 'Models', region('Models')],
        ['limits', 'Limits', region('Limits')],
        ['/me', 'Me', region('Accounts')],
      ],
    },
    'a key that manages': {
      who: account.key,
      stops: [['home', 'Home', chart]],
    },
    'a key that cannot manage': {
      who: reader.key,
      stops: [
        ['home', 'Home', chart],
        ['requests', 'Requests', region('Requests'), details],
        ['usage', 'Usage', region('Usage by model')],
        [`keys/${reader.id}`, 'Reader', text('Last calls')],
        [`keys/${reader.id}?part=access`, 'Reader', text('Active hours')],
        ['models', 'Models', region('Models')],
      ],
    },
    'an account with nothing yet': {
      who: fresh.key,
      stops: [
        ['home', 'Home', text('Make your first call')],
        ['requests', 'Requests', text('No requests in this range')],
        ['usage', 'Usage', text('No requests in this range')],
        ['limits', 'Limits', text('No spending limit is set')],
        ['billing?view=entries', 'Billing', text('The ledger is empty')],
        ['alerts', 'Alerts', text('No alerts yet')],
        ['keys/999999', 'Key', text('Key not found')],
        ['nowhere', 'Page not found', text('Go to the first page')],
      ],
    },
    'the operator': {
      who: operator,
      stops: [
        ['home', 'Home', region('Refusals by code')],
        ['accounts', 'Accounts', region('Accounts')],
        ['accounts/new', 'Create account', text('More settings'), moreSettings],
        ['people', 'People', region('People')],
        [`people?person=${member.id}`, 'People', 'role=dialog >> text=No changes.'],
        ['requests', 'Requests', region('Requests'), details],
        ['usage', 'Usage', region('Usage by account')],
        ['models', 'Models', region('Models')],
        ['providers', 'Providers', region('Models at test'), details],
        ['health', 'Health', region('Health')],
        ['audit', 'Audit', region('Audit log')],
      ],
    },
    'the operator in an account': {
      who: operator,
      below: `/operator/accounts/${account.accountId}/`,
      stops: [
        ['home', 'northwind@example.com', text('Balance'), topUp],
        ['settings', 'Settings', text('No changes.')],
        ...pagesOfAccount(sights),
      ],
    },
  };
}

function pathOf(link: string): string {
  return link.slice(link.indexOf('/dashboard') + '/dashboard'.length);
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name }).waitFor();

/** The details of the first row. */
async function details(page: Page): Promise<void> {
  await page.locator('tbody').getByRole('button').first().click();
  await page.getByRole('dialog').getByRole('heading').first().waitFor();
  await page.getByRole('dialog').getByRole('status', { name: 'Loading…' }).waitFor({ state: 'detached' });
}

async function table(page: Page): Promise<void> {
  await button(page, 'View as table').first().click();
  await page.locator('.chart table').first().waitFor();
}

async function moreSettings(page: Page): Promise<void> {
  await page.getByText('More settings').click();
}

async function invitation(page: Page): Promise<void> {
  await button(page, 'Invite').click();
  await page.getByRole('dialog').getByLabel('Role').waitFor();
}

async function rotation(page: Page): Promise<void> {
  await button(page, 'Rotate').click();
  await dialog(page, 'Rotate “Limited”?');
}

async function deactivation(page: Page): Promise<void> {
  await button(page, 'Deactivate').click();
  await dialog(page, 'Deactivate “Limited”?');
}

/** The question before a form that was begun is left. */
async function question(page: Page): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill('Begun');
  await page.getByRole('link', { name: '←' }).click();
  await dialog(page, 'Leave this page?');
}

/** The comparison of what two people changed at once. */
async function conflict(page: Page, { world, account, limited }: Sights): Promise<void> {
  await page.getByLabel('Note').fill('Mine');
  await apiOf(world, account.key).patch(`/api/keys/${limited.id}/`, { description: 'Theirs' });
  await button(page, 'Save changes').click();
  await dialog(page, 'This key was changed');
}

async function topUp(page: Page): Promise<void> {
  await page.getByLabel('Credits', { exact: true }).fill('5');
  await button(page, 'Add credits').click();
  await dialog(page, /^Add 5.00 credits/);
}

async function refusal(page: Page): Promise<void> {
  await page.getByLabel('E-mail address').fill('nobody@example.com');
  await page.getByLabel('Password', { exact: true }).fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('The e-mail address or the password is wrong.').waitFor();
}

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
